// Keeps oneDNN on the calling thread.
#pragma once

namespace troupe {

/// While it lives, oneDNN works on the calling thread alone: its OpenMP pool would compete with
/// ours, and its threads spin after each call. OpenMP is looked up at run time, because oneDNN may
/// be built on another thread library.
class one_openmp_thread {
public:
  one_openmp_thread();
  ~one_openmp_thread();
  one_openmp_thread(const one_openmp_thread&) = delete;
  one_openmp_thread& operator=(const one_openmp_thread&) = delete;

private:
  int before_ = 1;
};

} // namespace troupe
