// Values as text, text as values, and the checking of formats.
#pragma once
#pragma GCC system_header
#include "types.hpp"
#include <ctime>

namespace mql {

constexpr char kind_of_bool = 'b';
template <class T> constexpr char kind_of() {
  using U = std::decay_t<T>;
  if constexpr (std::is_floating_point_v<U>) return 'd';
  else if constexpr (std::is_same_v<U, string>) return 's';
  else if constexpr (std::is_same_v<U, datetime>) return 'L';
  else if constexpr (std::is_same_v<U, color>) return 'i';
  else if constexpr (std::is_enum_v<U> || std::is_same_v<U, bool>) return 'i';
  else if constexpr (std::is_integral_v<U>) return sizeof(U) == 8 ? 'L' : 'i';
  else return '?';
}
// Whether %...c of that length takes a value of the kind.
constexpr bool takes(char kind, char letter, bool is_long) {
  if (letter == 's') return kind == 's';
  bool is_real = letter == 'f' || letter == 'g' || letter == 'G' || letter == 'e' || letter == 'E' || letter == 'a';
  if (is_real) return kind == 'd';
  bool is_whole = letter == 'd' || letter == 'i' || letter == 'u' || letter == 'x' || letter == 'X' || letter == 'o' || letter == 'c';
  return is_whole && kind == (is_long ? 'L' : 'i');
}
struct piece { int length; char letter; bool is_long, stars; };
// Read what stands at a percent sign.
constexpr piece piece_at(const char *p) {
  int n = 1;
  bool is_long = false, stars = false;
  while (p[n] == '-' || p[n] == '+' || p[n] == ' ' || p[n] == '#' || p[n] == '.' || (p[n] >= '0' && p[n] <= '9') || p[n] == '*') { stars = stars || p[n] == '*'; ++n; }
  if (p[n] == 'I' && p[n + 1] == '6' && p[n + 2] == '4') { is_long = true; n += 3; }
  else if (p[n] == 'l' && p[n + 1] == 'l') { is_long = true; n += 2; }
  return {n + 1, p[n], is_long, stars};
}
template <class... A> constexpr bool fits(const char *form) {
  const char kinds[] = {kind_of<A>()..., '\0'};
  size_t used = 0;
  for (const char *p = form; *p;) {
    if (*p != '%') { ++p; continue; }
    if (p[1] == '%') { p += 2; continue; }
    piece one = piece_at(p);
    if (one.letter == '\0' || one.stars || used >= sizeof...(A)) return false;
    if (!takes(kinds[used++], one.letter, one.is_long)) return false;
    p += one.length;
  }
  return used == sizeof...(A);
}
// The line makes each its own, so that each is told.
template <bool Fits, int Line> const string &form(const string &s) { static_assert(Fits, "the format does not fit the arguments"); return s; }

// ------------------------------------------------------------------ to text
inline std::string printed(const char *form, double v) { char b[400]; snprintf(b, sizeof b, form, v); return b; }
inline std::string date_words(long t, int mode) {
  time_t x = t; struct tm g; gmtime_r(&x, &g); char b[64]; std::string s;
  if (mode & 1) { strftime(b, sizeof b, "%Y.%m.%d", &g); s = b; }
  if (mode & 6) { strftime(b, sizeof b, mode & 4 ? "%H:%M:%S" : "%H:%M", &g); s += (s.empty() ? "" : " "); s += b; }
  return s;
}
template <class T> std::string shown(const T &x) {
  if constexpr (std::is_same_v<T, string>) return x.std();
  else if constexpr (std::is_same_v<T, bool>) return x ? "true" : "false";
  else if constexpr (std::is_same_v<T, datetime>) return date_words(x.v, 7);
  else if constexpr (std::is_same_v<T, float>) return printed("%.9g", double(x));
  else if constexpr (std::is_floating_point_v<T>) return printed("%.16g", x);
  else if constexpr (std::is_same_v<T, color>) return std::to_string(x.v);
  else if constexpr (std::is_enum_v<T>) return std::to_string(int(x));
  else return std::to_string(x);
}
// An argument of a format, with its type in a letter: one text of code serves all types.
struct slot { char kind; long whole; double real; const char *words; bool is_unsigned; };
template <class T> slot slot_of(const T &x) {
  slot s{kind_of<T>(), 0, 0, nullptr, std::is_unsigned_v<T>};
  static_assert(kind_of<T>() != '?', "this can't be printed");
  if constexpr (std::is_same_v<T, string>) s.words = x.c_str();
  else if constexpr (std::is_floating_point_v<T>) s.real = x;
  else if constexpr (std::is_same_v<T, datetime> || std::is_same_v<T, color>) s.whole = long(x.v);
  else s.whole = long(x);
  return s;
}
inline std::string piece_text(const std::string &spec, const piece &one, const slot &x) {
  if (one.stars || !takes(x.kind, one.letter, one.is_long)) die("format " + spec + " does not fit its argument");
  char b[4096];
  std::string plain;
  for (size_t i = 0; i < spec.size(); ++i) if (spec.compare(i, 3, "I64") == 0) { plain += "ll"; i += 2; } else plain += spec[i];
  if (x.kind == 's') snprintf(b, sizeof b, plain.c_str(), x.words);
  else if (x.kind == 'd') snprintf(b, sizeof b, plain.c_str(), x.real);
  else if (x.kind == 'L') snprintf(b, sizeof b, plain.c_str(), x.whole);
  else snprintf(b, sizeof b, plain.c_str(), int(x.whole));
  return b;
}
inline std::string formatted(const char *p, const slot *x, const slot *end) {
  std::string s;
  while (*p) {
    if (*p != '%' || p[1] == '%') { s += *p; p += *p == '%' ? 2 : 1; continue; }
    if (x == end) die("a format has more places than arguments");
    piece one = piece_at(p);
    s += piece_text(std::string(p, size_t(one.length)), one, *x++);
    p += one.length;
  }
  if (x != end) die("a format has fewer places than arguments");
  return s;
}
template <class... A> string StringFormat(const string &f, A... a) {
  const slot slots[sizeof...(A) + 1] = {slot_of(a)..., slot{}};
  return formatted(f.c_str(), slots, slots + sizeof...(A));
}
template <class... A> std::string joined(const A &...a) { std::string s; ((s += shown(a)), ...); return s; }
template <class... A> void Print(A... a) { ask("Print", string(joined(a...))); }
template <class... A> void PrintFormat(const string &f, A... a) { ask("Print", StringFormat(f, a...)); }
template <class... A> void Alert(A... a) { ask("Alert", string(joined(a...))); }
template <class... A> void Comment(A... a) { ask("Comment", string(joined(a...))); }
template <class... A> int StringConcatenate(string &to, A... a) { to = joined(a...); return int(to.std().size()); }

inline string DoubleToString(double v, int digits = 8) {
  if (digits < -16 || digits > 16) die("DoubleToString takes -16 to 16 digits");
  char b[400]; snprintf(b, sizeof b, digits < 0 ? "%.*e" : "%.*f", std::abs(digits), v); return b;
}
inline string IntegerToString(long v, int length = 0, ushort fill = ' ') {
  std::string s = std::to_string(v);
  while (int(s.size()) < length) s.insert(s.begin(), char(fill));
  return s;
}
inline string TimeToString(datetime t, int mode = 3) { return date_words(t.v, mode); }
inline datetime StringToTime(const string &s) {
  int y = 0, m = 0, d = 0, hh = 0, mm = 0, ss = 0;
  if (sscanf(s.c_str(), "%d.%d.%d %d:%d:%d", &y, &m, &d, &hh, &mm, &ss) < 3) return 0L;
  struct tm g {}; g.tm_year = y - 1900; g.tm_mon = m - 1; g.tm_mday = d; g.tm_hour = hh; g.tm_min = mm; g.tm_sec = ss;
  return long(timegm(&g));
}
inline double StringToDouble(const string &s) { return atof(s.c_str()); }
inline long StringToInteger(const string &s) { return atol(s.c_str()); }
inline string ShortToString(ushort c) { return std::string(1, char(c)); }
inline string CharToString(uchar c) { return std::string(1, char(c)); }

// ------------------------------------------------------------------ casts
template <class T, class S> T cast(S x) {
  if constexpr (std::is_same_v<T, S>) return x;
  else if constexpr (std::is_same_v<T, string>) return shown(x);
  else if constexpr (std::is_same_v<S, string>) {
    if constexpr (std::is_floating_point_v<T>) return T(atof(x.c_str()));
    else if constexpr (std::is_same_v<T, datetime>) return StringToTime(x);
    else return T(atol(x.c_str()));
  }
  else if constexpr (std::is_same_v<T, datetime>) return datetime(long(x));
  else if constexpr (std::is_same_v<T, color>) return color(uint(x));
  else if constexpr (std::is_same_v<S, datetime> || std::is_same_v<S, color>) return T(x.v);
  else return static_cast<T>(x);
}

// ------------------------------------------------------------------ strings
inline int StringLen(const string &s) { return int(s.std().size()); }
inline int StringFind(const string &s, const string &part, int from = 0) {
  size_t found = s.std().find(part.std(), size_t(from < 0 ? 0 : from));
  return found == std::string::npos ? -1 : int(found);
}
inline string StringSubstr(const string &s, int from, int length = -1) {
  if (from < 0 || from > int(s.std().size())) return string("");
  return s.std().substr(size_t(from), length < 0 ? std::string::npos : size_t(length));
}
inline int StringReplace(string &s, const string &part, const string &by) {
  std::string out; int count = 0; size_t at_ = 0, next;
  if (part.std().empty()) return -1;
  while ((next = s.std().find(part.std(), at_)) != std::string::npos) { out += s.std().substr(at_, next - at_) + by.std(); at_ = next + part.std().size(); ++count; }
  s = out + s.std().substr(at_);
  return count;
}
inline int StringSplit(const string &s, ushort by, array<string> &out) {
  std::vector<std::string> parts(1);
  for (char c : s.std()) if (c == char(by)) parts.emplace_back(); else parts.back() += c;
  if (s.std().empty()) parts.clear();
  out.resize(long(parts.size()));
  for (size_t i = 0; i < parts.size(); ++i) out[i] = parts[i];
  return int(parts.size());
}
inline int StringTrimLeft(string &s) { size_t n = std::min(s.std().find_first_not_of(" \t\r\n"), s.std().size()); s = s.std().substr(n); return int(n); }
inline int StringTrimRight(string &s) { size_t n = s.std().find_last_not_of(" \t\r\n"); size_t keep = n == std::string::npos ? 0 : n + 1; int cut = int(s.std().size() - keep); s = s.std().substr(0, keep); return cut; }
inline bool StringToLower(string &s) { std::string t = s.std(); for (char &c : t) c = char(tolower(c)); s = t; return true; }
inline bool StringToUpper(string &s) { std::string t = s.std(); for (char &c : t) c = char(toupper(c)); s = t; return true; }
inline ushort StringGetCharacter(const string &s, int i) { return i < 0 || i >= int(s.std().size()) ? ushort(0) : s[i]; }
inline int StringCompare(const string &a, const string &b, bool exact = true) {
  string x = a, y = b;
  if (!exact) { StringToLower(x); StringToLower(y); }
  return x < y ? -1 : x == y ? 0 : 1;
}
inline string CharArrayToString(const array<uchar> &a, int from = 0, int count = -1, uint = 0) {
  std::string s; long end = count < 0 ? a.size() : std::min(a.size(), long(from) + count);
  for (long i = from; i < end && a[i]; ++i) s += char(a[i]);
  return s;
}
inline int StringToCharArray(const string &s, array<uchar> &a, int from = 0, int count = -1, uint = 0) {
  long n = count < 0 ? long(s.std().size()) + 1 : count;
  if (from + n > a.size()) a.resize(from + n);
  for (long i = 0; i < n; ++i) a[from + i] = i < long(s.std().size()) ? uchar(s.std()[size_t(i)]) : uchar(0);
  return int(n);
}

// ------------------------------------------------------------------ time
inline bool TimeToStruct(datetime t, MqlDateTime &s) {
  time_t x = t.v; struct tm g; gmtime_r(&x, &g);
  s.year = g.tm_year + 1900; s.mon = g.tm_mon + 1; s.day = g.tm_mday; s.hour = g.tm_hour; s.min = g.tm_min; s.sec = g.tm_sec; s.day_of_week = g.tm_wday; s.day_of_year = g.tm_yday;
  return true;
}
inline datetime StructToTime(const MqlDateTime &s) {
  struct tm g {}; g.tm_year = s.year - 1900; g.tm_mon = s.mon - 1; g.tm_mday = s.day; g.tm_hour = s.hour; g.tm_min = s.min; g.tm_sec = s.sec;
  return long(timegm(&g));
}

} // namespace mql
