"""The child's side of the cage: ``python -m bridge.model.confine MEMORY SECONDS MODULE ...``.

POSIX has resource limits (macOS counts no address space, so only the time holds there), Windows a
job object.
"""

import ctypes
import importlib
import sys
from contextlib import suppress


def confine(memory: int, seconds: int) -> None:
    """Limit this process for good.

    Args:
        memory: Bytes of address space (Windows: committed bytes).
        seconds: Of computing.
    """
    if sys.platform == "win32":
        _confine_windows(memory, seconds)
    else:
        _confine_posix(memory, seconds)


if sys.platform != "win32":

    def _confine_posix(memory: int, seconds: int) -> None:
        import resource

        bounds = ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds))
        for which, bound in (*bounds, (resource.RLIMIT_CORE, 0)):
            _, hard = resource.getrlimit(which)
            most = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
            with suppress(ValueError, OSError):  # macOS refuses to count address space
                resource.setrlimit(which, (most, most))


class _Basic(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
    )


class _Extended(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("BasicLimitInformation", _Basic),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


_PROCESS_TIME, _PROCESS_MEMORY, _DIE_QUIETLY = 0x2, 0x100, 0x400
_EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation


def job_limits(memory: int, seconds: int) -> _Extended:
    """Return what Windows is told of a job: time in 100 ns, memory in bytes."""
    limits = _Extended()
    basic = limits.BasicLimitInformation
    basic.PerProcessUserTimeLimit = seconds * 10_000_000
    basic.LimitFlags = _PROCESS_TIME | _PROCESS_MEMORY | _DIE_QUIETLY
    limits.ProcessMemoryLimit = memory
    return limits


if sys.platform == "win32":

    def _confine_windows(memory: int, seconds: int) -> None:
        # Not run on Windows yet. The handle is never closed: the job lives as long as the process.
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.CreateJobObjectW.restype = ctypes.c_void_p
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        limits = job_limits(memory, seconds)
        job = ctypes.c_void_p(kernel.CreateJobObjectW(None, None))
        told = kernel.SetInformationJobObject(
            job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
        )
        own = ctypes.c_void_p(kernel.GetCurrentProcess())
        if not (told and kernel.AssignProcessToJobObject(job, own)):
            sys.stderr.write(f"no job object (error {ctypes.get_last_error()}): no limits\n")


def main(arguments: list[str]) -> int:
    """Confine this process, then run a module's ``main``."""
    memory, seconds, module, *rest = arguments
    confine(int(memory), int(seconds))
    code: int = importlib.import_module(module).main(rest)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
