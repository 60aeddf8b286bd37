// Regular expressions of RE2, whose time is linear in the text, whatever the pattern.
#pragma once
#include "troupe/ops/strings/shared/map.cpu.hpp"

#include <re2/re2.h>

#include <memory>

namespace troupe::ops {

/// Fails for a pattern that is none.
inline result<std::unique_ptr<RE2>> compile_regex(const std::string& pattern) {
  RE2::Options quiet;
  quiet.set_log_errors(false);
  auto made = std::make_unique<RE2>(pattern, quiet);
  if (!made->ok())
    return invalid("'", pattern, "' is no regular expression: ", made->error());
  return made;
}

/// The scalar string at input i.
inline result<std::string> pattern_at(const kernel_context& at, int i) {
  if (at.input(i).rank() != 0)
    return invalid("patterns must be scalars, got shape ", at.input(i).dims());
  return *at.input(i).data<std::string>();
}

struct replacement {
  std::unique_ptr<RE2> what;
  std::string by;
  bool everywhere = true;
};

/// Fails where the rewrite names groups that the pattern has not.
inline result<replacement> make_replacement(const std::string& pattern, std::string rewrite,
                                            bool everywhere) {
  TROUPE_ASSIGN(auto what, compile_regex(pattern));
  if (std::string why; !what->CheckRewriteString(rewrite, &why))
    return invalid("rewrite '", rewrite, "' does not fit pattern '", pattern, "': ", why);
  return replacement{std::move(what), std::move(rewrite), everywhere};
}

inline status replace_matches(kernel_context& at, const replacement& with) {
  return map_strings<std::string>(
      at,
      [&](std::string text) {
        if (with.everywhere)
          RE2::GlobalReplace(&text, *with.what, with.by);
        else
          RE2::Replace(&text, *with.what, with.by);
        return text;
      },
      500);
}

inline status match_fully(kernel_context& at, const RE2& pattern) {
  return map_strings<bool>(
      at, [&](const std::string& text) { return RE2::FullMatch(text, pattern); }, 300);
}

} // namespace troupe::ops
