// Attributes that kernels read from their state: looked up when the program is compiled, not in
// each run.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>

namespace troupe::ops {

/// An attribute's name as template argument.
template <size_t N>
struct attr_name {
  constexpr attr_name(const char (&name)[N]) { std::copy_n(name, N, text); }
  char text[N];
};

/// For `kernel_def::prepare`: the kernel reads the attribute as `at.state<T>()`.
template <class T, attr_name Name>
result<std::shared_ptr<void>> cache_attr(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<T>(setup.origin.attr<T>(Name.text))};
}

} // namespace troupe::ops
