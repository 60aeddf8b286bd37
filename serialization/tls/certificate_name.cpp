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

// As in a cluster spec.
bool is_job_name(std::string_view name) {
  auto inner = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= longest_part && is_letter(name[0]) &&
         std::ranges::all_of(name, inner);
}

std::string escaped(std::string_view text) {
  constexpr auto digits = "0123456789ABCDEF";
  std::string made;
  for (auto c : text)
    if (auto byte = static_cast<unsigned char>(c); is_plain(c))
      made += c;
    else
      made += {'%', digits[byte >> 4], digits[byte & 15]};
  return made;
}

// One way only to write a name: what is escaped without need, or in small letters, is none.
std::optional<std::string> unescaped(std::string_view text) {
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      made += text[i];
      continue;
    }
    unsigned byte = 0;
    auto digits = text.substr(i + 1, 2);
    auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || problem != std::errc{} || end != digits.data() + 2)
      return std::nullopt;
    made += static_cast<char>(byte);
    i += 2;
  }
  if (made.size() > longest_part || escaped(made) != text)
    return std::nullopt;
  return made;
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
  auto bad = [&] {
    return invalid("'", std::string{uri.substr(0, 4 * longest_part)},
                   "' names no task and no client; write troupe://CLUSTER/job:worker/task:0, "
                   "troupe://CLUSTER/job:worker or troupe://CLUSTER/client:alice");
  };
  if (!uri.starts_with(scheme))
    return bad();
  auto rest = uri.substr(scheme.size());
  auto slash = rest.find('/');
  if (slash == rest.npos)
    return bad();
  auto cluster = unescaped(rest.substr(0, slash));
  rest.remove_prefix(slash + 1);
  if (!cluster)
    return bad();
  certificate_name made;
  made.cluster = *std::move(cluster);
  if (rest.starts_with("client:")) {
    auto client = unescaped(rest.substr(7));
    if (!client || client->empty())
      return bad();
    made.client = *std::move(client);
    return made;
  }
  if (!rest.starts_with("job:"))
    return bad();
  rest.remove_prefix(4);
  slash = rest.find('/');
  made.job = rest.substr(0, slash);
  if (!is_job_name(made.job))
    return bad();
  if (slash == rest.npos)
    return made;
  rest.remove_prefix(slash + 1);
  if (!rest.starts_with("task:"))
    return bad();
  rest.remove_prefix(5);
  int task = -1;
  auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), task);
  if (problem != std::errc{} || end != rest.data() + rest.size() || task < 0 ||
      std::to_string(task) != rest)
    return bad();
  made.task = task;
  return made;
}

bool certificate_name::covers(const task_name& which) const noexcept {
  return !is_client() && job == which.job && (!task || *task == which.task);
}

std::string to_string(const certificate_name& name) {
  auto made = concat(scheme, escaped(name.cluster), '/');
  if (name.is_client())
    return concat(made, "client:", escaped(name.client));
  return name.task ? concat(made, "job:", name.job, "/task:", *name.task)
                   : concat(made, "job:", name.job);
}

std::ostream& operator<<(std::ostream& out, const certificate_name& name) {
  return out << to_string(name);
}

bool covers(const std::vector<certificate_name>& names, const std::string& cluster,
            const task_name& which) {
  return std::ranges::any_of(
      names, [&](const auto& one) { return one.cluster == cluster && one.covers(which); });
}

std::string list_of(const std::vector<certificate_name>& names) {
  std::string made;
  for (const auto& one : names)
    made += concat(made.empty() ? "" : ", ", one);
  return made.empty() ? "no task and no client" : made;
}

} // namespace troupe
