// JSON of files that are not trusted. Only sources include this.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <nlohmann/json.hpp>

#include <set>
#include <string_view>
#include <vector>

namespace troupe {

/// Parses JSON whose objects and lists are nested at most so deep, and in which no object has a key
/// twice: the last one would win in silence. Errors begin with "is no JSON" or name the key.
inline result<nlohmann::json> parse_strict_json(std::string_view text, int deepest) {
  using nlohmann::json;
  std::vector<std::set<std::string>> keys;
  std::string twice;
  bool too_deep = false;
  auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == json::parse_event_t::key &&
             !keys.back().insert(parsed.get_ref<const std::string&>()).second && twice.empty())
      twice = parsed.get_ref<const std::string&>();
    too_deep = too_deep || depth > deepest;
    return !too_deep;
  };
  try {
    auto parsed = json::parse(text, watch);
    if (too_deep)
      return invalid("is nested more than ", deepest, " deep");
    if (!twice.empty())
      return invalid("has '", twice.substr(0, 100), "' twice");
    return parsed;
  } catch (const json::exception& thrown) {
    std::string_view what = thrown.what(); // with line and column, behind a number of the library's
    auto after_id = what.find("] ");
    return invalid("is no JSON: ", what.substr(after_id == what.npos ? 0 : after_id + 2, 200));
  }
}

/// The member, if it is there and of the type.
template <class T>
const T* json_member(const nlohmann::json& of, std::string_view name) {
  auto it = of.find(name);
  return it == of.end() ? nullptr : it->template get_ptr<const T*>();
}

inline std::string json_text(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Whether it can stand in JSON as it is.
inline bool is_utf8(std::string_view text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

} // namespace troupe
