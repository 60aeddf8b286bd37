#include "troupe/serialization/tls/certificate_name.hpp"

#include <algorithm>
#include <charconv>

namespace troupe {
namespace {

constexpr std::string_view scheme = "troupe://";
constexpr size_t longest_part = 256;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_plain(char c) {
  return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

// The syntax of a cluster spec.
bool is_job_name(std::string_view name) {
  auto inner = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= longest_part && is_letter(name[0]) &&
         std::ranges::all_of(name, inner);
}

std::string escaped(std::string_view text) {
  constexpr auto digits = "0123456789ABCDEF";
  std::string escaped_text;
  for (auto c : text)
    if (auto byte = static_cast<unsigned char>(c); is_plain(c))
      escaped_text += c;
    else
      escaped_text += {'%', digits[byte >> 4], digits[byte & 15]};
  return escaped_text;
}

// Accepts only the canonical form: needless escapes and lower-case digits are errors.
std::optional<std::string> unescaped(std::string_view text) {
  std::string text_value;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      text_value += text[i];
      continue;
    }
    unsigned byte = 0;
    auto digits = text.substr(i + 1, 2);
    auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || problem != std::errc{} || end != digits.data() + 2)
      return std::nullopt;
    text_value += static_cast<char>(byte);
    i += 2;
  }
  if (text_value.size() > longest_part || escaped(text_value) != text)
    return std::nullopt;
  return text_value;
}

} // namespace

certificate_name certificate_name::of_task(std::string cluster, const task_name& task) {
  return {std::move(cluster), task.job, task.task, {}};
}

certificate_name certificate_name::of_job(std::string cluster, std::string job) {
  return {std::move(cluster), std::move(job), std::nullopt, {}};
}

certificate_name certificate_name::of_client(std::string cluster, std::string client) {
  return {std::move(cluster), {}, std::nullopt, std::move(client)};
}

result<certificate_name> certificate_name::parse(std::string_view uri) {
  auto fail_with_syntax = [&] {
    return invalid("'", std::string{uri.substr(0, 4 * longest_part)},
                   "' names no task and no client; write troupe://CLUSTER/job:worker/task:0, "
                   "troupe://CLUSTER/job:worker or troupe://CLUSTER/client:alice");
  };
  if (!uri.starts_with(scheme))
    return fail_with_syntax();
  auto unparsed = uri.substr(scheme.size());
  auto slash = unparsed.find('/');
  if (slash == unparsed.npos)
    return fail_with_syntax();
  auto cluster = unescaped(unparsed.substr(0, slash));
  unparsed.remove_prefix(slash + 1);
  if (!cluster)
    return fail_with_syntax();
  certificate_name name;
  name.cluster = *std::move(cluster);
  if (unparsed.starts_with("client:")) {
    auto client = unescaped(unparsed.substr(7));
    if (!client || client->empty())
      return fail_with_syntax();
    name.client = *std::move(client);
    return name;
  }
  if (!unparsed.starts_with("job:"))
    return fail_with_syntax();
  unparsed.remove_prefix(4);
  slash = unparsed.find('/');
  name.job = unparsed.substr(0, slash);
  if (!is_job_name(name.job))
    return fail_with_syntax();
  if (slash == unparsed.npos)
    return name;
  unparsed.remove_prefix(slash + 1);
  if (!unparsed.starts_with("task:"))
    return fail_with_syntax();
  unparsed.remove_prefix(5);
  int task = -1;
  auto [end, problem] = std::from_chars(unparsed.data(), unparsed.data() + unparsed.size(), task);
  if (problem != std::errc{} || end != unparsed.data() + unparsed.size() || task < 0 ||
      std::to_string(task) != unparsed)
    return fail_with_syntax();
  name.task = task;
  return name;
}

bool certificate_name::covers(const task_name& named_task) const noexcept {
  return !is_client() && job == named_task.job && (!task || *task == named_task.task);
}

std::string to_string(const certificate_name& name) {
  auto prefix = concat(scheme, escaped(name.cluster), '/');
  if (name.is_client())
    return concat(prefix, "client:", escaped(name.client));
  return name.task ? concat(prefix, "job:", name.job, "/task:", *name.task)
                   : concat(prefix, "job:", name.job);
}

std::ostream& operator<<(std::ostream& out, const certificate_name& name) {
  return out << to_string(name);
}

bool covers(const std::vector<certificate_name>& names, const std::string& cluster,
            const task_name& named_task) {
  return std::ranges::any_of(
      names, [&](const auto& name) { return name.cluster == cluster && name.covers(named_task); });
}

std::string format_names(const std::vector<certificate_name>& names) {
  std::string list;
  for (const auto& name : names)
    list += concat(list.empty() ? "" : ", ", name);
  return list.empty() ? "no task and no client" : list;
}

} // namespace troupe
