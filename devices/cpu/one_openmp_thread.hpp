// A guard that keeps oneDNN on the calling thread.
#pragma once

namespace troupe {

/// While it exists, oneDNN works on the calling thread alone: its OpenMP pool would compete with
/// the runtime's threads, and spins after each call. OpenMP is looked up at run time, because
/// oneDNN may be built on another thread library.
class one_openmp_thread {
public:
  one_openmp_thread();
  ~one_openmp_thread();
  one_openmp_thread(const one_openmp_thread&) = delete;
  one_openmp_thread& operator=(const one_openmp_thread&) = delete;

private:
  int saved_threads_ = 1;
};

} // namespace troupe
