#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/strings/shared/map.cpu.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <memory>
#include <re2/re2.h>

namespace troupe::ops::regex_cpu {
namespace {

// Fails for an invalid pattern.
result<std::unique_ptr<RE2>> compile_regex(const std::string& pattern) {
  RE2::Options quiet;
  quiet.set_log_errors(false);
  auto compiled = std::make_unique<RE2>(pattern, quiet);
  if (!compiled->ok())
    return invalid("'", pattern, "' is no regular expression: ", compiled->error());
  return compiled;
}

// The scalar string at input i.
result<std::string> pattern_at(const kernel_context& at, int i) {
  if (at.input(i).rank() != 0)
    return invalid("patterns must be scalars, got shape ", at.input(i).dims());
  return *at.input(i).data<std::string>();
}

struct replacement {
  std::unique_ptr<RE2> pattern;
  std::string rewrite;
  bool everywhere = true;
};

// Fails where the rewrite refers to groups that the pattern lacks.
result<replacement> make_replacement(const std::string& pattern, std::string rewrite,
                                     bool everywhere) {
  TROUPE_ASSIGN(auto compiled, compile_regex(pattern));
  if (std::string reason; !compiled->CheckRewriteString(rewrite, &reason))
    return invalid("rewrite '", rewrite, "' does not fit pattern '", pattern, "': ", reason);
  return replacement{std::move(compiled), std::move(rewrite), everywhere};
}

status replace_matches(kernel_context& at, const replacement& settings) {
  return map_strings<std::string>(
      at,
      [&](std::string text) {
        if (settings.everywhere)
          RE2::GlobalReplace(&text, *settings.pattern, settings.rewrite);
        else
          RE2::Replace(&text, *settings.pattern, settings.rewrite);
        return text;
      },
      500);
}

status match_fully(kernel_context& at, const RE2& pattern) {
  return map_strings<bool>(
      at, [&](const std::string& text) { return RE2::FullMatch(text, pattern); }, 300);
}

status run_regex_full_match(kernel_context& at) {
  TROUPE_ASSIGN(auto text, pattern_at(at, 1));
  TROUPE_ASSIGN(auto pattern, compile_regex(text));
  return match_fully(at, *pattern);
}

result<std::shared_ptr<void>> prepare_static_regex_full_match(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto pattern, compile_regex(setup.origin.attr<std::string>("pattern")));
  return std::shared_ptr<void>{std::move(pattern)};
}

status run_regex_replace(kernel_context& at) {
  TROUPE_ASSIGN(auto pattern, pattern_at(at, 1));
  TROUPE_ASSIGN(auto rewrite, pattern_at(at, 2));
  TROUPE_ASSIGN(auto settings, make_replacement(pattern, std::move(rewrite), at.state<bool>()));
  return replace_matches(at, settings);
}

result<std::shared_ptr<void>> prepare_static_regex_replace(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto settings, make_replacement(setup.origin.attr<std::string>("pattern"),
                                                setup.origin.attr<std::string>("rewrite"),
                                                setup.origin.attr<bool>("replace_global")));
  return std::shared_ptr<void>{std::make_shared<replacement>(std::move(settings))};
}

} // namespace

extern constexpr kernel_def regex_full_match_cpu{
    .op = "RegexFullMatch",
    .run = {{dtype::none, run_regex_full_match}},
};

extern constexpr kernel_def static_regex_full_match_cpu{
    .op = "StaticRegexFullMatch",
    .run = {{dtype::none, [](kernel_context& at) { return match_fully(at, at.state<RE2>()); }}},
    .prepare = prepare_static_regex_full_match,
};

extern constexpr kernel_def regex_replace_cpu{
    .op = "RegexReplace",
    .run = {{dtype::none, run_regex_replace}},
    .prepare = cache_attr<bool, "replace_global">,
};

extern constexpr kernel_def static_regex_replace_cpu{
    .op = "StaticRegexReplace",
    .run = {{dtype::none,
             [](kernel_context& at) { return replace_matches(at, at.state<replacement>()); }}},
    .prepare = prepare_static_regex_replace,
};

} // namespace troupe::ops::regex_cpu
