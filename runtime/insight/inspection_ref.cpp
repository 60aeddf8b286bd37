#include "troupe/runtime/insight/inspection_ref.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {
namespace {

bool is_letter_of_kind(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view{"-._~:@,+"}.find(c) != std::string_view::npos;
}

int hex(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

result<std::string> decode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0)
      return invalid("'%' is not followed by two hexadecimal digits; write %25 for '%'");
    decoded += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
    i += 2;
  }
  return decoded;
}

void encode(std::string_view text, std::string& to) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (char c : text) {
    if (is_plain(c)) {
      to += c;
      continue;
    }
    auto byte = static_cast<unsigned char>(c);
    to += '%';
    to += digits[byte / 16];
    to += digits[byte % 16];
  }
}

result<ref_part> parse_part(std::string_view text) {
  auto colon = text.find(':');
  ref_part part{std::string{text.substr(0, colon)}, {}};
  if (colon == text.npos || colon == 0 || !std::ranges::all_of(part.kind, is_letter_of_kind))
    return invalid("'", text, "' is not of the form kind:id, such as task:0 or queue:rows");
  TROUPE_ASSIGN(part.id, decode(text.substr(colon + 1)));
  return part;
}

} // namespace

result<inspection_ref> inspection_ref::parse(std::string_view text) {
  if (text.size() > max_text)
    return invalid("a ref has ", text.size(), " characters, at most ", max_text, " are allowed");
  inspection_ref ref;
  if (text.starts_with('/'))
    text.remove_prefix(1);
  while (!text.empty()) {
    auto end = std::min(text.find('/'), text.size());
    auto part = parse_part(text.substr(0, end));
    if (!part)
      return part.status().with_context("ref");
    ref.parts.push_back(*std::move(part));
    if (ref.parts.size() > max_parts)
      return invalid("a ref has more than ", max_parts, " parts");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return ref;
}

inspection_ref inspection_ref::of(const task_name& task) {
  return {{{"job", task.job}, {"task", std::to_string(task.task)}}};
}

std::optional<task_name> inspection_ref::task() const {
  if (parts.size() < 2 || parts[0].kind != "job" || parts[1].kind != "task")
    return std::nullopt;
  const auto& digits = parts[1].id;
  task_name name{parts[0].id, 0};
  auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), name.task);
  if (problem != std::errc{} || end != digits.data() + digits.size() || name.task < 0)
    return std::nullopt;
  return name;
}

std::span<const ref_part> inspection_ref::within_task() const {
  return std::span{parts}.subspan(std::min<size_t>(2, parts.size()));
}

inspection_ref inspection_ref::operator/(ref_part part) const {
  auto child = *this;
  child.parts.push_back(std::move(part));
  return child;
}

std::string to_string(const inspection_ref& ref) {
  if (ref.parts.empty())
    return "/";
  std::string text;
  for (const auto& part : ref.parts) {
    text += '/';
    text += part.kind;
    text += ':';
    encode(part.id, text);
  }
  return text;
}

} // namespace troupe
