#include "troupe/devices/cpu/one_openmp_thread.hpp"

#include <dlfcn.h>

namespace troupe {
namespace {

struct openmp {
  void (*set)(int) = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  int (*get)() = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
};

const openmp& functions() {
  static const openmp loaded;
  return loaded;
}

} // namespace

one_openmp_thread::one_openmp_thread() {
  if (!functions().set || !functions().get)
    return;
  saved_threads_ = functions().get();
  if (saved_threads_ != 1)
    functions().set(1);
}

one_openmp_thread::~one_openmp_thread() {
  if (saved_threads_ > 1)
    functions().set(saved_threads_);
}

} // namespace troupe
