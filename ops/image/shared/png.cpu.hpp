// Turns libpng's errors, which it reports by a jump, into values.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <png.h>

#include <csetjmp>
#include <string>

namespace troupe::ops {

/// libpng's last error message.
struct png_complaint {
  std::string text;
};

[[noreturn]] inline void on_png_error(png_structp png, png_const_charp text) {
  try {
    static_cast<png_complaint*>(png_get_error_ptr(png))->text = text;
  } catch (...) { // out of memory for the text
  }
  png_longjmp(png, 1);
}

inline void on_png_warning(png_structp, png_const_charp) {}

/// Runs code that libpng may leave by a jump: it must own nothing with a destructor. Returns false
/// if a jump left it.
template <class Body>
bool guarded(png_structp png, Body&& body) {
  if (setjmp(png_jmpbuf(png)))
    return false;
  body();
  return true;
}

} // namespace troupe::ops
