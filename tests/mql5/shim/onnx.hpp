// ONNX, and the buffers of indicators.
#pragma once
#pragma GCC system_header
#include "algebra.hpp"

namespace mql {

// Numbers of the element types are those of ONNX.
template <class T> constexpr long element() {
  if constexpr (std::is_same_v<T, float>) return 1;
  else if constexpr (std::is_same_v<T, uchar>) return 2;
  else if constexpr (std::is_same_v<T, char>) return 3;
  else if constexpr (std::is_same_v<T, ushort>) return 4;
  else if constexpr (std::is_same_v<T, short>) return 5;
  else if constexpr (std::is_same_v<T, int>) return 6;
  else if constexpr (std::is_same_v<T, long> || std::is_same_v<T, datetime>) return 7;
  else if constexpr (std::is_same_v<T, bool>) return 9;
  else if constexpr (std::is_same_v<T, double>) return 11;
  else if constexpr (std::is_same_v<T, uint>) return 12;
  else if constexpr (std::is_same_v<T, ulong>) return 13;
  else { static_assert(sizeof(T) == 0, "OnnxRun takes arrays of numbers, vectors and matrices"); return 0; }
}
template <class T> raw tensor(const array<T> &a) { return {const_cast<T *>(a.data()), a.size(), element<T>()}; }
template <class T, long N> raw tensor(const array<fixed<T, N>> &) { die("OnnxRun with an array of two dimensions is not covered"); }
template <class T> raw tensor(vec<T> &v) { return {v.data(), long(v.Size()), element<T>()}; }
template <class T> raw tensor(mat<T> &m) { return {m.gather(), long(m.Rows() * m.Cols()), element<T>()}; }
template <class T> void taken(T &) {}
template <class T> void taken(mat<T> &m) { m.put(); }

inline long OnnxCreate(const string &file, ulong flags) { return whole("OnnxCreate", file, flags); }
inline long OnnxCreateFromBuffer(const array<uchar> &b, ulong flags) { return whole("OnnxCreateFromBuffer", raw_of(b), flags); }
inline bool OnnxRelease(long h) { return whole("OnnxRelease", h) != 0; }
inline long OnnxGetInputCount(long h) { return whole("OnnxGetInputCount", h); }
inline long OnnxGetOutputCount(long h) { return whole("OnnxGetOutputCount", h); }
inline string OnnxGetInputName(long h, long i) { return words("OnnxGetInputName", h, i); }
inline string OnnxGetOutputName(long h, long i) { return words("OnnxGetOutputName", h, i); }
inline bool type_info(const char *name, long h, long i, OnnxTypeInfo &info) {
  value v = ask(name, h, i);
  const double *n = static_cast<const double *>(v.data);
  if (!n) return false;
  info.type = ENUM_ONNX_TYPE(int(n[0]));
  info.tensor.data_type = ENUM_ONNX_DATA_TYPE(int(n[1]));
  info.tensor.dimensions.resize(v.count - 2);
  for (long k = 2; k < v.count; ++k) info.tensor.dimensions[k - 2] = long(n[k]);
  return true;
}
inline bool OnnxGetInputTypeInfo(long h, long i, OnnxTypeInfo &info) { return type_info("OnnxGetInputTypeInfo", h, i, info); }
inline bool OnnxGetOutputTypeInfo(long h, long i, OnnxTypeInfo &info) { return type_info("OnnxGetOutputTypeInfo", h, i, info); }
template <class I> raw shape_of(const array<I> &s) { static_assert(std::is_integral_v<I> && sizeof(I) == 8, "a shape is an array of long or ulong"); return raw_of(s); }
template <class I> bool OnnxSetInputShape(long h, long i, const array<I> &s) { return whole("OnnxSetInputShape", h, i, shape_of(s)) != 0; }
template <class I> bool OnnxSetOutputShape(long h, long i, const array<I> &s) { return whole("OnnxSetOutputShape", h, i, shape_of(s)) != 0; }
template <class... A> bool OnnxRun(long h, ulong flags, A &&...a) {
  bool is_done = whole("OnnxRun", h, flags, tensor(a)...) != 0;
  if (is_done) (taken(a), ...);
  return is_done;
}

// ------------------------------------------------------------------ indicators
inline std::vector<array<double> *> &buffers() { static std::vector<array<double> *> all; return all; }
inline bool SetIndexBuffer(int i, array<double> &b, ENUM_INDEXBUFFER_TYPE = INDICATOR_DATA) {
  if (i != int(buffers().size())) die("buffers are set in order");
  buffers().push_back(&b);
  return true;
}
inline bool IndicatorSetString(ENUM_CUSTOMIND_PROPERTY_STRING, const string &) { return true; }
inline bool IndicatorSetInteger(ENUM_CUSTOMIND_PROPERTY_INTEGER, int) { return true; }
inline bool IndicatorSetDouble(ENUM_CUSTOMIND_PROPERTY_DOUBLE, double) { return true; }
inline bool PlotIndexSetDouble(int, ENUM_PLOT_PROPERTY_DOUBLE, double) { return true; }
inline bool PlotIndexSetInteger(int, ENUM_PLOT_PROPERTY_INTEGER, int) { return true; }
inline bool PlotIndexSetString(int, ENUM_PLOT_PROPERTY_STRING, const string &) { return true; }

template <class F> long calculated(F on_calculate, long total, long before) {
  std::vector<MqlRates> bars = bars_of(Symbol(), Period(), 0, total);
  array<datetime> time; array<double> open, high, low, close; array<long> ticks, volume; array<int> spread;
  for (array<double> *b : {&open, &high, &low, &close}) b->resize(total);
  time.resize(total); ticks.resize(total); volume.resize(total); spread.resize(total);
  if (long(bars.size()) != total) die("OnCalculate without bars");
  for (long i = 0; i < total; ++i) {
    const MqlRates &r = bars[size_t(i)];
    time[i] = r.time; open[i] = r.open; high[i] = r.high; low[i] = r.low; close[i] = r.close; ticks[i] = r.tick_volume; volume[i] = r.real_volume; spread[i] = r.spread;
  }
  for (array<double> *b : buffers()) { bool s = b->is_series(); b->series(false); b->resize(total); b->series(s); }
  return on_calculate(int(total), int(before), time, open, high, low, close, ticks, volume, spread);
}

} // namespace mql
