// Turns libjpeg's errors into values; libjpeg reports them through a callback that must not return.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <csetjmp>
#include <cstdio> // jpeglib.h needs it
#include <jpeglib.h>
#include <string>

namespace troupe::ops {

/// libjpeg's error manager, and the target of its jump.
struct jpeg_guard {
  jpeg_guard() {
    jpeg_std_error(&manager);
    manager.error_exit = on_error;
    manager.output_message = [](j_common_ptr) {};
  }

  /// Runs code that libjpeg may leave by a jump: it must own nothing with a destructor. Returns
  /// false if a jump left it.
  template <class Body>
  bool run(Body&& body) {
    if (setjmp(home))
      return false;
    body();
    return true;
  }

  [[noreturn]] static void on_error(j_common_ptr state) {
    auto& self = *reinterpret_cast<jpeg_guard*>(state->err); // its first member
    self.manager.format_message(state, self.text);
    std::longjmp(self.home, 1);
  }

  jpeg_error_mgr manager;
  std::jmp_buf home;
  char text[JMSG_LENGTH_MAX] = {};
};

} // namespace troupe::ops
