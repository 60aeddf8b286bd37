// The one way to include Catch2: version 2 and version 3 name their headers differently.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

#include <concepts>
#include <string>
#include <utility>

namespace Catch::Matchers {

/// In version 2, a text contains another; in version 3, a range contains an element. A text that is
/// looked for means the former here.
template <class Text>
requires std::convertible_to<Text, std::string>
auto Contains(Text&& text) { return ContainsSubstring(std::string{std::forward<Text>(text)}); }

} // namespace Catch::Matchers

namespace Catch {
using Matchers::Contains;
} // namespace Catch

// As version 2 has it.
using Catch::Approx;

#else
#include <catch2/catch.hpp>
#endif
