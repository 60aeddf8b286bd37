// libpng reports errors by jumping; here they become values.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <png.h>

#include <csetjmp>
#include <string>

namespace troupe::ops {

/// What libpng said last.
struct png_complaint {
  std::string text;
};

[[noreturn]] inline void on_png_error(png_structp png, png_const_charp text) {
  try {
    static_cast<png_complaint*>(png_get_error_ptr(png))->text = text;
  } catch (...) { // no memory for the text
  }
  png_longjmp(png, 1);
}

inline void on_png_warning(png_structp, png_const_charp) {}

/// Runs code that libpng may jump out of: it must own nothing that has a destructor. False where it
/// was left that way.
template <class Body>
bool guarded(png_structp png, Body&& body) {
  if (setjmp(png_jmpbuf(png)))
    return false;
  body();
  return true;
}

} // namespace troupe::ops
