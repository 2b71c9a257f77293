// What a program stands on: strings, times, arrays that are checked, and calls to the host.
#pragma once
#pragma GCC system_header
#include <algorithm>
#include <cfenv>
#include <climits>
#include <cmath>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace mql {

using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;

// ------------------------------------------------------------------ errors at run time
struct critical { std::string words; };

struct state {
  int file = 0, line = 0;      // where the program is
  int died_file = 0, died_line = 0;
  long turns = 0;              // of loops since the event began
  int last_error = 0;
  sigjmp_buf escape;
  bool is_closed = false;      // the host is gone: globals are destroyed without it
};
inline state &at() { static state one; return one; }
inline void here(int file, int line) { at().file = file; at().line = line; }
inline void note_death() { at().died_file = at().file; at().died_line = at().line; }
[[noreturn]] inline void die(const std::string &words) { note_death(); throw critical{words}; }
// In every function: its caller goes on where it was.
struct caller {
  int file = at().file, line = at().line;
  caller() = default;
  caller(const caller &) = delete;
  ~caller() { here(file, line); }
};
constexpr long most_turns = 300000000;
inline void turn() { if (++at().turns > most_turns) die("a loop without an end"); }
constexpr int build = 4230;

// ------------------------------------------------------------------ scalars
template <class T> T unset();

struct null_t {};
inline constexpr null_t null{};

class string {
  std::string s_;
  bool null_ = true;
public:
  string() = default;
  string(null_t) {}
  string(std::string s) : s_(std::move(s)), null_(false) {}
  string(const char *s) : s_(s), null_(false) {}
  const std::string &std() const { return s_; }
  const char *c_str() const { return s_.c_str(); }
  bool is_null() const { return null_; }
  string &operator+=(const string &o) { s_ += o.s_; null_ = false; return *this; }
  ushort operator[](long i) const {
    if (i < 0 || i >= long(s_.size())) die("string index " + std::to_string(i) + " out of range");
    return ushort(uchar(s_[size_t(i)]));
  }
  friend string operator+(const string &a, const string &b) { return a.s_ + b.s_; }
  friend bool operator==(const string &a, const string &b) { return a.s_ == b.s_; }
  friend bool operator!=(const string &a, const string &b) { return a.s_ != b.s_; }
  friend bool operator<(const string &a, const string &b) { return a.s_ < b.s_; }
  friend bool operator>(const string &a, const string &b) { return a.s_ > b.s_; }
  friend bool operator<=(const string &a, const string &b) { return a.s_ <= b.s_; }
  friend bool operator>=(const string &a, const string &b) { return a.s_ >= b.s_; }
  friend bool operator==(const string &a, null_t) { return a.null_; }
  friend bool operator!=(const string &a, null_t) { return !a.null_; }
};
inline string text(const char *s) { return s; }

// Seconds; a type of its own since it prints as a date.
struct datetime {
  long v;
  datetime() : v(0x5A5A5A5A5A5A5A5AL) {}
  datetime(long x) : v(x) {}
  operator long() const { return v; }
  datetime &operator+=(long x) { v += x; return *this; }
  datetime &operator-=(long x) { v -= x; return *this; }
  datetime &operator++() { ++v; return *this; }
};
struct color {
  uint v;
  color() : v(0x5A5A5A5Au) {}
  color(uint x) : v(x) {}
  operator uint() const { return v; }
};

// A value that was never set: numbers that trap at the first use, and odd whole ones.
template <class T> T unset() {
  if constexpr (std::is_same_v<T, bool>) return false;
  else if constexpr (std::is_same_v<T, double>) return __builtin_nans("");
  else if constexpr (std::is_same_v<T, float>) return __builtin_nansf("");
  else if constexpr (std::is_enum_v<T>) return static_cast<T>(0x5A5A5A5A);
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(0x5A5A5A5A5A5A5A5AL);
  else return T();
}

template <class T> void zero(T &x) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) x = static_cast<T>(0);
  else if constexpr (std::is_same_v<T, datetime> || std::is_same_v<T, color>) x.v = 0;
  else if constexpr (std::is_same_v<T, string>) x = string();
  else x.mql_zero();
}
template <class T> T zeroed() { T x; zero(x); return x; }
template <class T> void ZeroMemory(T &x) { zero(x); }

#ifdef __OPTIMIZE__
#define MQL_UNSET(T)
#else
#define MQL_UNSET(T) = mql::unset<T>()
#endif

// ------------------------------------------------------------------ arrays
struct zero_fill_t {};
inline constexpr zero_fill_t zero_fill{};

template <class T> struct cell {
  T value;
  cell() : value(unset<T>()) {}
  cell(const T &x) : value(x) {}
};
template <class T> struct is_array : std::false_type {};

// Elements are checked; a series counts from the end.
template <class T> class array {
protected:
  std::vector<cell<T>> cells_;
  bool series_ = false, fixed_ = false;
  struct of_size {};
  array(of_size, size_t n) : cells_(n), fixed_(true) {}
  size_t place(long i) const {
    long n = long(cells_.size());
    if (i < 0 || i >= n) die("array index " + std::to_string(i) + " out of range, size " + std::to_string(n));
    return size_t(series_ ? n - 1 - i : i);
  }
public:
  using item = T;
  array() = default;
  explicit array(zero_fill_t) {}
  template <class I> T &operator[](I i) { static_assert(std::is_integral_v<I> || std::is_enum_v<I>, "an index is a whole number"); return cells_[place(long(i))].value; }
  template <class I> const T &operator[](I i) const { static_assert(std::is_integral_v<I> || std::is_enum_v<I>, "an index is a whole number"); return cells_[place(long(i))].value; }
  long size() const { return long(cells_.size()); }
  bool is_fixed() const { return fixed_; }
  bool is_series() const { return series_; }
  void series(bool flag) { series_ = flag; }
  T *data() { return cells_.empty() ? nullptr : &cells_[0].value; }
  const T *data() const { return cells_.empty() ? nullptr : &cells_[0].value; }
  bool resize(long n) {
    if (n < 0) die("an array of " + std::to_string(n) + " elements");
    if (fixed_) { if (n != size()) die("a fixed array is resized"); return true; }
    cells_.resize(size_t(n));
    return true;
  }
  void mql_zero() { for (auto &one : cells_) zero(one.value); }
};
template <class T, long N> class fixed : public array<T> {
public:
  fixed() : array<T>(typename array<T>::of_size{}, size_t(N)) {}
  explicit fixed(zero_fill_t) : fixed() { this->mql_zero(); }
  fixed(std::initializer_list<T> items) : fixed() {
    if (long(items.size()) > N) die("more values than elements");
    this->mql_zero();
    size_t i = 0;
    for (const T &one : items) this->cells_[i++].value = one;
  }
};
template <class T> struct is_array<array<T>> : std::true_type {};
template <class T, long N> struct is_array<fixed<T, N>> : std::true_type {};

// ------------------------------------------------------------------ calls to the host
struct value {
  int kind = 0, spare = 0;     // 1 whole, 2 real, 3 text, 4 data
  long whole = 0;
  double real = 0;
  const char *words = nullptr;
  void *data = nullptr;
  long count = 0;
};
using host_call = int (*)(const char *name, const value *arguments, int count, value *answer);
inline host_call &host() { static host_call one = nullptr; return one; }

struct raw { void *data; long count; long type = 0; };
template <class T> value given(const T &x) {
  value v;
  if constexpr (std::is_same_v<T, raw>) { v.kind = 4; v.data = x.data; v.count = x.count; v.whole = x.type; }
  else if constexpr (std::is_same_v<T, string>) { v.kind = 3; v.words = x.c_str(); v.whole = x.is_null(); }
  else if constexpr (std::is_floating_point_v<T>) { v.kind = 2; v.real = x; }
  else if constexpr (std::is_same_v<T, datetime> || std::is_same_v<T, color>) { v.kind = 1; v.whole = long(x.v); }
  else { v.kind = 1; v.whole = long(x); }
  return v;
}
constexpr int traps = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;

// Numbers may be odd outside of the program: traps are off while the host answers.
template <class... A> value ask(const char *name, const A &...a) {
  value answer;
  value given_[sizeof...(A) + 1] = {given(a)...};
  if (at().is_closed) return answer;
  if (!host()) die(std::string(name) + " is called before the program has begun");
  fedisableexcept(FE_ALL_EXCEPT);
  int code = host()(name, given_, int(sizeof...(A)), &answer);
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(traps);
  if (code < 0) die(std::string(name) + ": the host failed");
  if (code > 0) at().last_error = code;
  return answer;
}
template <class... A> long whole(const char *name, const A &...a) { return ask(name, a...).whole; }
template <class... A> double real(const char *name, const A &...a) { return ask(name, a...).real; }
template <class... A> string words(const char *name, const A &...a) {
  value v = ask(name, a...);
  return v.words ? string(v.words) : string();
}
template <class T> raw raw_of(const array<T> &a) { return {const_cast<T *>(a.data()), a.size()}; }

} // namespace mql
