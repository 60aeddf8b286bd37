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

status read_rights(const json& object, const std::string& key, const std::string& extra_key,
                   access_rights& rights) {
  if (!object.is_object() || !object.contains("may") || !object["may"].is_array())
    return invalid(key, R"( must be an object such as {"may": ["run"]}, got )", shown(object));
  for (const auto& right : object["may"])
    if (right == "register")
      rights.may_register = true;
    else if (right == "run")
      rights.may_run = true;
    else if (right == "reset")
      rights.may_reset = true;
    else if (right == "drain")
      rights.may_drain = true;
    else
      return invalid(key, R"(: "may" lists register, run, reset and drain, got )", shown(right));
  auto read_limit = [&](const char* name, auto& limit) -> status {
    auto entry = object.find(name);
    if (entry == object.end())
      return {};
    if (!entry->is_number_unsigned() || entry->template get<uint64_t>() == 0)
      return invalid(key, ": ", name, " must be a whole number above 0, got ", shown(*entry));
    limit = entry->template get<uint64_t>();
    return {};
  };
  TROUPE_TRY(read_limit("connections", rights.connections));
  TROUPE_TRY(read_limit("programs", rights.programs));
  TROUPE_TRY(read_limit("steps", rights.steps));
  TROUPE_TRY(read_limit("sessions", rights.sessions));
  TROUPE_TRY(read_limit("bytes", rights.bytes));
  static const std::set<std::string> known{"may",   "connections", "programs",
                                           "steps", "sessions",    "bytes"};
  for (const auto& [name, value] : object.items())
    if (!known.contains(name) && name != extra_key)
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
  access_list parsed_list;
  for (const auto& [key, value] : root.items()) {
    if ((key != "clients" && key != "tokens") || !value.is_object())
      return bad("has objects named clients and tokens, got ", shown(key), ": ", shown(value));
    if (value.size() > most_entries)
      return bad(key, " has more than ", most_entries, " entries");
  }
  if (auto clients = root.find("clients"); clients != root.end())
    for (const auto& [name, value] : clients->items())
      if (auto outcome =
              read_rights(value, concat("client ", shown(name)), "", parsed_list.clients_[name]);
          !outcome)
        return std::move(outcome).with_context(origin);
  if (auto tokens = root.find("tokens"); tokens != root.end())
    for (const auto& [name, value] : tokens->items()) {
      known_client client{name, {}};
      if (auto outcome = read_rights(value, concat("token ", shown(name)), "sha256", client.rights);
          !outcome)
        return std::move(outcome).with_context(origin);
      auto digest = value.find("sha256");
      if (digest == value.end() || !is_digest(*digest))
        return bad("token ", shown(name),
                   ": sha256 must be 64 lower-case hexadecimal digits (troupe certs token)");
      auto [other, is_new] =
          parsed_list.tokens_.emplace(digest->get<std::string>(), std::move(client));
      if (!is_new)
        return bad("token ", shown(name), " has the sha256 of ", shown(other->second.name));
    }
  return parsed_list;
}

const access_rights* access_list::rights_of_client(const std::string& name) const {
  auto entry = clients_.find(name);
  if (entry == clients_.end())
    entry = clients_.find("*");
  return entry == clients_.end() ? nullptr : &entry->second;
}

const known_client* access_list::client_of_token(const std::string& digest) const {
  auto entry = tokens_.find(digest);
  return entry == tokens_.end() ? nullptr : &entry->second;
}

} // namespace troupe
