// Includes Catch2 for all tests: version 2 and version 3 name their headers differently.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

#include <concepts>
#include <string>
#include <utility>

namespace Catch::Matchers {

/// In version 2, `Contains` matches a part of a text; in version 3, an element of a range. For a
/// text, this overload keeps the former.
template <class Text>
requires std::convertible_to<Text, std::string>
auto Contains(Text&& text) { return ContainsSubstring(std::string{std::forward<Text>(text)}); }

} // namespace Catch::Matchers

namespace Catch {
using Matchers::Contains;
} // namespace Catch

// The name that version 2 has.
using Catch::Approx;

#else
#include <catch2/catch.hpp>
#endif
