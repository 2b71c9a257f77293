// Files of the sandbox.
#pragma once
#pragma GCC system_header
#include "trading.hpp"

namespace mql {

inline int FileOpen(const string &n, int flags, short by = '\t', uint page = 0) { return int(whole("FileOpen", n, flags, by, page)); }
inline void FileClose(int h) { whole("FileClose", h); }
inline void FileFlush(int h) { whole("FileFlush", h); }
inline bool FileIsExist(const string &n, int common = 0) { return whole("FileIsExist", n, common) != 0; }
inline bool FileDelete(const string &n, int common = 0) { return whole("FileDelete", n, common) != 0; }
inline bool FileMove(const string &a, int common, const string &b, int mode) { return whole("FileMove", a, common, b, mode) != 0; }
inline bool FileCopy(const string &a, int common, const string &b, int mode) { return whole("FileCopy", a, common, b, mode) != 0; }
inline bool FileIsEnding(int h) { return whole("FileIsEnding", h) != 0; }
inline bool FileIsLineEnding(int h) { return whole("FileIsLineEnding", h) != 0; }
inline ulong FileSize(int h) { return ulong(whole("FileSize", h)); }
inline ulong FileTell(int h) { return ulong(whole("FileTell", h)); }
inline bool FileSeek(int h, long offset, ENUM_FILE_POSITION from) { return whole("FileSeek", h, offset, from) != 0; }
template <class... A> uint FileWrite(int h, A... a) { return uint(whole("FileWrite", h, string(shown(a))...)); }
inline uint FileWriteString(int h, const string &s, int n = -1) { return uint(whole("FileWriteString", h, s, n)); }
template <class T> uint FileWriteArray(int h, const array<T> &a, int from = 0, int count = -1) {
  static_assert(std::is_arithmetic_v<T>, "FileWriteArray takes numbers here");
  long n = count < 0 ? a.size() - from : count;
  if (from < 0 || n < 0 || from + n > a.size()) die("FileWriteArray beyond the array");
  return uint(whole("FileWriteArray", h, raw{const_cast<T *>(a.data()) + from, n * long(sizeof(T))})) / uint(sizeof(T));
}
template <class T> uint FileReadArray(int h, array<T> &a, int from = 0, int count = -1) {
  static_assert(std::is_arithmetic_v<T>, "FileReadArray takes numbers here");
  value v = ask("FileReadArray", h, count < 0 ? -1L : count * long(sizeof(T)));
  long n = v.count / long(sizeof(T));
  if (from + n > a.size()) a.resize(from + n);
  if (n > 0) memcpy(a.data() + from, v.data, size_t(n) * sizeof(T));
  return uint(n);
}
inline string FileReadString(int h, int n = -1) { return words("FileReadString", h, n); }
inline double FileReadNumber(int h) { return real("FileReadNumber", h); }
inline bool FolderCreate(const string &n, int common = 0) { return whole("FolderCreate", n, common) != 0; }
inline long FileFindFirst(const string &filter, string &found, int common = 0) { value v = ask("FileFindFirst", filter, common); found = v.words ? string(v.words) : string(); return v.whole; }
inline bool FileFindNext(long h, string &found) { value v = ask("FileFindNext", h); found = v.words ? string(v.words) : string(); return v.whole != 0; }
inline void FileFindClose(long h) { whole("FileFindClose", h); }

} // namespace mql
