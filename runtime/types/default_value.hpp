// Defaults of options that are structs themselves.
#pragma once

namespace troupe::detail {

/// Returns the defaults of an option. Not inline: GCC 12 warns (-O3, -Wmaybe-uninitialized) in the
/// user's code of strings and functions in a struct within a struct that it fills in itself.
template <class T>
[[gnu::noinline]] T default_value() noexcept {
  return {};
}

} // namespace troupe::detail
