// Functions on arrays, and mathematics.
#pragma once
#pragma GCC system_header
#include "text.hpp"

namespace mql {

template <class T> int ArraySize(const array<T> &a) {
  if constexpr (is_array<T>::value) return a.size() ? int(a.size()) * ArraySize(a[0]) : 0;
  else return int(a.size());
}
template <class T> int ArrayRange(const array<T> &a, int rank) {
  if constexpr (is_array<T>::value) return rank == 0 ? int(a.size()) : a.size() ? ArrayRange(a[0], rank - 1) : 0;
  else return rank == 0 ? int(a.size()) : 0;
}
template <class T> int ArrayResize(array<T> &a, int n, int = 0) {
  if (a.is_fixed()) die("ArrayResize of a fixed array");
  bool series = a.is_series(); a.series(false); a.resize(n); a.series(series);
  return n;
}
template <class T> void ArrayFree(array<T> &a) { if (a.is_fixed()) die("ArrayFree of a fixed array"); a.resize(0); }
template <class T, class V> int ArrayInitialize(array<T> &a, V v) { for (long i = 0; i < a.size(); ++i) a[i] = static_cast<T>(v); return int(a.size()); }
template <class T, class V> void ArrayFill(array<T> &a, int from, int n, V v) { for (long i = from; i < long(from) + n; ++i) a[i] = cast<T>(v); }
template <class T, class S> int ArrayCopy(array<T> &to, const array<S> &from, int to_at = 0, int from_at = 0, int count = -1) {
  long n = count < 0 ? from.size() - from_at : std::min(long(count), from.size() - from_at);
  if (n < 0) die("ArrayCopy from beyond the end");
  if (to_at + n > to.size()) { if (to.is_fixed()) n = std::max(0L, to.size() - to_at); else to.resize(to_at + n); }
  std::vector<S> kept;
  for (long i = 0; i < n; ++i) kept.push_back(from[from_at + i]);
  for (long i = 0; i < n; ++i) { if constexpr (std::is_same_v<T, S>) to[to_at + i] = kept[size_t(i)]; else to[to_at + i] = static_cast<T>(kept[size_t(i)]); }
  return int(n);
}
template <class T> bool ArraySort(array<T> &a) { bool s = a.is_series(); a.series(false); std::sort(a.data(), a.data() + a.size()); a.series(s); return true; }
template <class T, class B> int extreme(const array<T> &a, int from, int count, B better) {
  long end = count < 0 ? a.size() : std::min(a.size(), long(from) + count), best = from;
  if (from < 0 || from >= end) return -1;
  for (long i = from + 1; i < end; ++i) if (better(a[i], a[best])) best = i;
  return int(best);
}
template <class T> int ArrayMaximum(const array<T> &a, int from = 0, int count = -1) { return extreme(a, from, count, [](const T &x, const T &y) { return x > y; }); }
template <class T> int ArrayMinimum(const array<T> &a, int from = 0, int count = -1) { return extreme(a, from, count, [](const T &x, const T &y) { return x < y; }); }
template <class T> bool ArraySetAsSeries(const array<T> &a, bool flag) { if (a.is_fixed()) return false; const_cast<array<T> &>(a).series(flag); return true; }
template <class T> bool ArrayGetAsSeries(const array<T> &a) { return a.is_series(); }
template <class T> bool ArrayIsDynamic(const array<T> &a) { return !a.is_fixed(); }
template <class T> bool ArrayReverse(array<T> &a, uint from = 0, uint count = uint(-1)) {
  long end = count == uint(-1) ? a.size() : long(from) + long(count);
  for (long i = from, j = end - 1; i < j; ++i, --j) std::swap(a[i], a[j]);
  return true;
}
template <class T> int ArrayCompare(const array<T> &a, const array<T> &b, int a_at = 0, int b_at = 0, int count = -1) {
  long n = count < 0 ? std::max(a.size() - a_at, b.size() - b_at) : count;
  for (long i = 0; i < n; ++i) {
    bool ends_a = a_at + i >= a.size(), ends_b = b_at + i >= b.size();
    if (ends_a || ends_b) return ends_a && ends_b ? 0 : ends_a ? -1 : 1;
    if (a[a_at + i] < b[b_at + i]) return -1;
    if (b[b_at + i] < a[a_at + i]) return 1;
  }
  return 0;
}

// ------------------------------------------------------------------ mathematics
template <class A, class B> using wider = std::common_type_t<A, B>;
template <class A, class B> wider<A, B> MathMax(A a, B b) { static_assert(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, "MathMax takes numbers"); return a > b ? a : b; }
template <class A, class B> wider<A, B> MathMin(A a, B b) { static_assert(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, "MathMin takes numbers"); return a < b ? a : b; }
template <class A> A MathAbs(A a) { static_assert(std::is_arithmetic_v<A>, "MathAbs takes numbers"); if constexpr (std::is_floating_point_v<A>) return std::fabs(a); else return a < 0 ? A(-a) : a; }
inline double MathFloor(double x) { return std::floor(x); }
inline double MathCeil(double x) { return std::ceil(x); }
inline double MathRound(double x) { return std::round(x); }
inline double MathSqrt(double x) { return std::sqrt(x); }
inline double MathPow(double x, double y) { return std::pow(x, y); }
inline double MathExp(double x) { return std::exp(x); }
inline double MathLog(double x) { return std::log(x); }
inline double MathLog10(double x) { return std::log10(x); }
inline double MathMod(double x, double y) { return std::fmod(x, y); }
inline double MathTanh(double x) { return std::tanh(x); }
inline double MathSin(double x) { return std::sin(x); }
inline double MathCos(double x) { return std::cos(x); }
// By its bits: a number that was never set must not trap where it is asked about.
inline bool MathIsValidNumber(double x) { uint64_t b; memcpy(&b, &x, sizeof b); return (b >> 52 & 0x7FF) != 0x7FF; }
inline double NormalizeDouble(double x, int digits) {
  if (digits < 0 || digits > 8) die("NormalizeDouble takes 0 to 8 digits");
  double scale = std::pow(10.0, digits);
  return std::round(x * scale) / scale;
}

} // namespace mql
