#include "troupe/serialization/config/access.hpp"

#include "troupe/serialization/storage/strict_json.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

namespace troupe {
namespace {

using nlohmann::json;

constexpr size_t longest_list = 4 << 20, longest_shown = 100, most_entries = 100'000;
constexpr int deepest_list = 6;

std::string shown(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, longest_shown);
}

status read_rights(const json& from, const std::string& key, const std::string& also,
                   access_rights& to) {
  if (!from.is_object() || !from.contains("may") || !from["may"].is_array())
    return invalid(key, R"( must be an object such as {"may": ["run"]}, got )", shown(from));
  for (const auto& one : from["may"])
    if (one == "register")
      to.registers = true;
    else if (one == "run")
      to.runs = true;
    else if (one == "reset")
      to.resets = true;
    else if (one == "drain")
      to.drains = true;
    else
      return invalid(key, R"(: "may" lists register, run, reset and drain, got )", shown(one));
  auto count = [&](const char* name, auto& limit) -> status {
    auto found = from.find(name);
    if (found == from.end())
      return {};
    if (!found->is_number_unsigned() || found->template get<uint64_t>() == 0)
      return invalid(key, ": ", name, " must be a whole number above 0, got ", shown(*found));
    limit = found->template get<uint64_t>();
    return {};
  };
  TROUPE_TRY(count("connections", to.connections));
  TROUPE_TRY(count("programs", to.programs));
  TROUPE_TRY(count("steps", to.steps));
  TROUPE_TRY(count("sessions", to.sessions));
  TROUPE_TRY(count("bytes", to.bytes));
  static const std::set<std::string> known{"may",   "connections", "programs",
                                           "steps", "sessions",    "bytes"};
  for (const auto& [name, value] : from.items())
    if (!known.contains(name) && name != also)
      return invalid(key, " has no ", shown(name),
                     "; there are may, connections, programs, steps, sessions and bytes");
  return {};
}

bool is_digest(const json& value) {
  if (!value.is_string())
    return false;
  const auto& text = value.get_ref<const std::string&>();
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

} // namespace

result<access_list> access_list::parse(std::string_view text, std::string_view origin) {
  auto bad = [&](const auto&... parts) { return invalid(origin, ": ", parts...); };
  if (text.size() > longest_list)
    return bad("is longer than ", longest_list, " bytes");
  auto parsed = parse_strict_json(text, deepest_list);
  if (!parsed)
    return bad(parsed.status().message());
  const auto& root = *parsed;
  if (!root.is_object())
    return bad(R"(must be an object such as {"clients": {"*": {"may": ["run"]}}})");
  access_list made;
  for (const auto& [key, value] : root.items()) {
    if ((key != "clients" && key != "tokens") || !value.is_object())
      return bad("has objects named clients and tokens, got ", shown(key), ": ", shown(value));
    if (value.size() > most_entries)
      return bad(key, " has more than ", most_entries, " entries");
  }
  if (auto all = root.find("clients"); all != root.end())
    for (const auto& [name, value] : all->items())
      if (auto read = read_rights(value, concat("client ", shown(name)), "", made.clients_[name]);
          !read)
        return std::move(read).within(origin);
  if (auto all = root.find("tokens"); all != root.end())
    for (const auto& [name, value] : all->items()) {
      known_client one{name, {}};
      if (auto read = read_rights(value, concat("token ", shown(name)), "sha256", one.rights);
          !read)
        return std::move(read).within(origin);
      auto digest = value.find("sha256");
      if (digest == value.end() || !is_digest(*digest))
        return bad("token ", shown(name),
                   ": sha256 must be 64 small hexadecimal digits (troupe certs token)");
      auto [other, is_new] = made.tokens_.emplace(digest->get<std::string>(), std::move(one));
      if (!is_new)
        return bad("token ", shown(name), " has the sha256 of ", shown(other->second.name));
    }
  return made;
}

const access_rights* access_list::of_client(const std::string& name) const {
  auto it = clients_.find(name);
  if (it == clients_.end())
    it = clients_.find("*");
  return it == clients_.end() ? nullptr : &it->second;
}

const known_client* access_list::of_token(const std::string& digest) const {
  auto it = tokens_.find(digest);
  return it == tokens_.end() ? nullptr : &it->second;
}

} // namespace troupe
