// Vectors and matrices, as far as programs need them.
#pragma once
#pragma GCC system_header
#include "files.hpp"

namespace mql {

inline double member_of(const MqlRates &r, ulong mask) {
  switch (mask) {
    case 1: return r.open;
    case 2: return r.high;
    case 4: return r.low;
    case 8: return r.close;
    case 16: return double(r.tick_volume);
    case 32: return double(r.spread);
    case 64: return double(r.time.v);
    default: die("CopyRates with an unknown mask");
  }
}

template <class T> class vec {
  array<T> at_;
public:
  vec() = default;
  explicit vec(ulong n) { at_.resize(long(n)); }
  vec(ulong n, T v) { at_.resize(long(n)); Fill(v); }
  ulong Size() const { return ulong(at_.size()); }
  bool Resize(ulong n) { at_.resize(long(n)); return true; }
  bool Init(ulong n) { return Resize(n); }
  void Fill(T v) { for (long i = 0; i < at_.size(); ++i) at_[i] = v; }
  static vec Zeros(ulong n) { return vec(n, T(0)); }
  static vec Ones(ulong n) { return vec(n, T(1)); }
  static vec Full(ulong n, T v) { return vec(n, v); }
  template <class I> T &operator[](I i) { return at_[i]; }
  template <class I> const T &operator[](I i) const { return at_[i]; }
  T *data() { return at_.data(); }
  void some() const { if (!at_.size()) die("an empty vector"); }
  T Sum() const { T s = 0; for (long i = 0; i < at_.size(); ++i) s += at_[i]; return s; }
  T Mean() const { some(); return Sum() / T(at_.size()); }
  T Std() const { T m = Mean(), s = 0; for (long i = 0; i < at_.size(); ++i) s += (at_[i] - m) * (at_[i] - m); return std::sqrt(s / T(at_.size())); }
  ulong ArgMax() const { some(); return ulong(ArrayMaximum(at_)); }
  ulong ArgMin() const { some(); return ulong(ArrayMinimum(at_)); }
  T Max() const { return at_[long(ArgMax())]; }
  T Min() const { return at_[long(ArgMin())]; }
  ulong HasNan() const { ulong n = 0; for (long i = 0; i < at_.size(); ++i) n += std::isnan(at_[i]); return n; }
  template <class U> bool Assign(const vec<U> &o) { Resize(o.Size()); for (long i = 0; i < at_.size(); ++i) at_[i] = static_cast<T>(o[i]); return true; }
  template <class U> bool Assign(const array<U> &o) { at_.resize(o.size()); for (long i = 0; i < at_.size(); ++i) at_[i] = static_cast<T>(o[i]); return true; }
  bool CopyRates(const string &s, ENUM_TIMEFRAMES p, ulong mask, ulong start, ulong n) {
    std::vector<MqlRates> bars = bars_of(s, p, long(start), long(n));
    if (bars.size() != n) return false;
    Resize(n);
    for (ulong i = 0; i < n; ++i) at_[i] = static_cast<T>(member_of(bars[i], mask));
    return true;
  }
  template <class F> vec each(const vec &o, F f) const {
    if (o.Size() != Size()) die("vectors of different sizes");
    vec r = *this;
    for (long i = 0; i < at_.size(); ++i) r.at_[i] = f(at_[i], o.at_[i]);
    return r;
  }
  friend vec operator+(const vec &a, const vec &b) { return a.each(b, [](T x, T y) { return T(x + y); }); }
  friend vec operator-(const vec &a, const vec &b) { return a.each(b, [](T x, T y) { return T(x - y); }); }
  friend vec operator*(const vec &a, const vec &b) { return a.each(b, [](T x, T y) { return T(x * y); }); }
  friend vec operator/(const vec &a, const vec &b) { return a.each(b, [](T x, T y) { return T(x / y); }); }
  friend vec operator+(const vec &a, T b) { return a + vec(a.Size(), b); }
  friend vec operator-(const vec &a, T b) { return a - vec(a.Size(), b); }
  friend vec operator*(const vec &a, T b) { return a * vec(a.Size(), b); }
  friend vec operator/(const vec &a, T b) { return a / vec(a.Size(), b); }
};

template <class T> class mat {
  std::vector<vec<T>> rows_;
  std::vector<T> flat_;
public:
  mat() = default;
  mat(ulong r, ulong c) { Resize(r, c); }
  mat(ulong r, ulong c, T v) { Resize(r, c); Fill(v); }
  ulong Rows() const { return rows_.size(); }
  ulong Cols() const { return rows_.empty() ? 0 : rows_[0].Size(); }
  bool Resize(ulong r, ulong c) { rows_.assign(r, vec<T>(c)); return true; }
  bool Init(ulong r, ulong c) { return Resize(r, c); }
  void Fill(T v) { for (auto &one : rows_) one.Fill(v); }
  static mat Zeros(ulong r, ulong c) { return mat(r, c, T(0)); }
  static mat Ones(ulong r, ulong c) { return mat(r, c, T(1)); }
  static mat Full(ulong r, ulong c, T v) { return mat(r, c, v); }
  size_t row(long i) const { if (i < 0 || i >= long(rows_.size())) die("matrix row " + std::to_string(i) + " out of range"); return size_t(i); }
  template <class I> vec<T> &operator[](I i) { return rows_[row(long(i))]; }
  template <class I> const vec<T> &operator[](I i) const { return rows_[row(long(i))]; }
  vec<T> Row(ulong i) const { return rows_[row(long(i))]; }
  bool Row(const vec<T> &v, ulong i) { if (v.Size() != Cols()) return false; rows_[row(long(i))] = v; return true; }
  vec<T> Col(ulong j) const { vec<T> v(Rows()); for (ulong i = 0; i < Rows(); ++i) v[i] = rows_[i][j]; return v; }
  bool Col(const vec<T> &v, ulong j) { if (v.Size() != Rows()) return false; for (ulong i = 0; i < Rows(); ++i) rows_[i][j] = v[i]; return true; }
  mat Transpose() const { mat m(Cols(), Rows()); for (ulong i = 0; i < Rows(); ++i) for (ulong j = 0; j < Cols(); ++j) m.rows_[j][i] = rows_[i][j]; return m; }
  vec<T> Mean(int axis) const { vec<T> v(axis ? Rows() : Cols()); for (ulong k = 0; k < v.Size(); ++k) v[k] = (axis ? Row(k) : Col(k)).Mean(); return v; }
  vec<T> Std(int axis) const { vec<T> v(axis ? Rows() : Cols()); for (ulong k = 0; k < v.Size(); ++k) v[k] = (axis ? Row(k) : Col(k)).Std(); return v; }
  ulong HasNan() const { ulong n = 0; for (auto &one : rows_) n += one.HasNan(); return n; }
  template <class U> bool Assign(const mat<U> &o) { Resize(o.Rows(), o.Cols()); for (ulong i = 0; i < Rows(); ++i) rows_[i].Assign(o[i]); return true; }
  bool CopyRates(const string &s, ENUM_TIMEFRAMES p, ulong mask, ulong start, ulong n) {
    std::vector<MqlRates> bars = bars_of(s, p, long(start), long(n));
    if (bars.size() != n) return false;
    bool stands = mask & 32768;
    rows_.clear();
    for (ulong bit = 1; bit <= 64; bit <<= 1) {
      if (!(mask & bit)) continue;
      vec<T> row(n);
      for (ulong i = 0; i < n; ++i) row[i] = static_cast<T>(member_of(bars[i], bit));
      rows_.push_back(row);
    }
    if (stands) *this = Transpose();
    return true;
  }
  // Numbers in a row, for the runtime; put() takes them back.
  T *gather() { flat_.clear(); for (auto &one : rows_) for (ulong j = 0; j < one.Size(); ++j) flat_.push_back(one[j]); return flat_.data(); }
  void put() { size_t k = 0; for (auto &one : rows_) for (ulong j = 0; j < one.Size(); ++j) one[j] = flat_[k++]; }
};
using vector = vec<double>;
using vectorf = vec<float>;
using matrix = mat<double>;
using matrixf = mat<float>;

} // namespace mql
