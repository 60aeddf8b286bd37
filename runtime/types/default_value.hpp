// Default values of options whose types are structs.
#pragma once

namespace troupe::detail {

/// Returns the defaults of an option. Not inline: at -O3, GCC 12 reports -Wmaybe-uninitialized in
/// user code for strings and functions of a nested struct that the code initializes itself.
template <class T>
[[gnu::noinline]] T default_value() noexcept {
  return {};
}

} // namespace troupe::detail
