// JSON of files that are not trusted. Only source files include this header.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <nlohmann/json.hpp>

#include <set>
#include <string_view>
#include <vector>

namespace troupe {

/// Parses JSON. Objects and lists may be nested at most `max_depth` deep, and no object may have a
/// key twice: the library would silently use the last value. Errors begin with "is not JSON" or
/// name the key.
inline result<nlohmann::json> parse_strict_json(std::string_view text, int max_depth) {
  using nlohmann::json;
  std::vector<std::set<std::string>> keys;
  std::string duplicate_key;
  bool is_too_deep = false;
  auto check_event = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == json::parse_event_t::key &&
             !keys.back().insert(parsed.get_ref<const std::string&>()).second &&
             duplicate_key.empty())
      duplicate_key = parsed.get_ref<const std::string&>();
    is_too_deep = is_too_deep || depth > max_depth;
    return !is_too_deep;
  };
  try {
    auto parsed = json::parse(text, check_event);
    if (is_too_deep)
      return invalid("is nested more than ", max_depth, " deep");
    if (!duplicate_key.empty())
      return invalid("has '", duplicate_key.substr(0, 100), "' twice");
    return parsed;
  } catch (const json::exception& error) {
    std::string_view message = error.what(); // an id of the library, then line and column
    auto after_id = message.find("] ");
    return invalid("is not JSON: ",
                   message.substr(after_id == message.npos ? 0 : after_id + 2, 200));
  }
}

/// The member of that name; null if it is missing or of another type.
template <class T>
const T* json_member(const nlohmann::json& object, std::string_view name) {
  auto member = object.find(name);
  return member == object.end() ? nullptr : member->template get_ptr<const T*>();
}

inline std::string json_text(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Whether a text can be a JSON string as it is.
inline bool is_utf8(std::string_view text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

} // namespace troupe
