#include "troupe/devices/cpu/one_openmp_thread.hpp"

#include <dlfcn.h>

namespace troupe {
namespace {

struct openmp {
  void (*set)(int) = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  int (*get)() = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
};

const openmp& functions() {
  static const openmp found;
  return found;
}

} // namespace

one_openmp_thread::one_openmp_thread() {
  if (!functions().set || !functions().get)
    return;
  before_ = functions().get();
  if (before_ != 1)
    functions().set(1);
}

one_openmp_thread::~one_openmp_thread() {
  if (before_ > 1)
    functions().set(before_);
}

} // namespace troupe
