// The whole shim, and how the host enters a program.
#pragma once
#pragma GCC system_header
#include "onnx.hpp"

namespace mql {

struct input {
  const char *name;
  void (*set)(void *, const char *);
  void *place;
};
template <class T> void set_input(void *place, const char *text) { *static_cast<T *>(place) = cast<T>(string(text)); }

struct event { long first, second; };
constexpr long no_handler = LONG_MIN;
using handler = long (*)(const std::string &name, const event &e);

inline void on_trap(int) { note_death(); siglongjmp(at().escape, 1); }

// Run a handler: 0 done, 1 there is none, 2 the program died.
inline int run(handler handle, const char *name, const event &e, long *result, std::string *words) {
  struct sigaction mine {}, before {};
  mine.sa_handler = on_trap;
  mine.sa_flags = SA_NODEFER;
  at().turns = 0;
  sigaction(SIGFPE, &mine, &before);
  volatile int outcome = 0;
  if (sigsetjmp(at().escape, 1)) {
    *words = "a division by zero, an overflow, or a number that is none or was never set";
    outcome = 2;
  } else {
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(traps);
    try {
      *result = handle(name, e);
      outcome = *result == no_handler ? 1 : 0;
    } catch (const critical &died) {
      *words = died.words;
      outcome = 2;
    }
  }
  fedisableexcept(FE_ALL_EXCEPT);
  feclearexcept(FE_ALL_EXCEPT);
  sigaction(SIGFPE, &before, nullptr);
  return outcome;
}
inline array<uchar> embedded(const uchar *from, const uchar *to) {
  array<uchar> all;
  all.resize(to - from);
  memcpy(all.data(), from, size_t(to - from));
  return all;
}

} // namespace mql
