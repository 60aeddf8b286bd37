#include "troupe/serialization/discovery/etcd_messages.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace troupe {
namespace {

using nlohmann::json;

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr size_t max_answer = 16 << 20;
constexpr int max_depth = 8;

status damaged(std::string_view reason) {
  return failure(error_kind::data_loss, "etcd sent an unexpected answer: ", reason);
}

// Parses an answer to an object, or to etcd's error.
result<json> parse_json(std::string_view answer) {
  if (answer.size() > max_answer)
    return damaged("it is too long");
  bool too_deep = false;
  auto root = json::parse(
      answer,
      [&](int depth, json::parse_event_t, json&) {
        too_deep = too_deep || depth > max_depth;
        return !too_deep;
      },
      false);
  if (root.is_discarded() || too_deep || !root.is_object())
    return damaged("it is not a JSON object");
  if (auto field = root.find("error"); field != root.end())
    return failure(error_kind::unavailable,
                   "etcd: ", field->is_string() ? field->get<std::string>() : field->dump());
  // Every successful answer has a header. Since 3.6, errors have a code and a message.
  auto nested = root.find("result");
  if (root.contains("header") ||
      (nested != root.end() && nested->is_object() && nested->contains("header")))
    return root;
  if (auto field = root.find("message"); field != root.end() && field->is_string())
    return failure(error_kind::unavailable, "etcd: ", field->get<std::string>());
  return damaged("it has no header");
}

// The gateway writes 64-bit numbers as text, and omits zeros.
result<int64_t> number(const json& object, const char* name) {
  auto field = object.find(name);
  if (field == object.end())
    return int64_t{0};
  if (field->is_number_integer())
    return field->get<int64_t>();
  if (!field->is_string())
    return damaged(name);
  const auto& text = field->get_ref<const std::string&>();
  int64_t value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size())
    return damaged(name);
  return value;
}

result<std::string> bytes(const json& object, const char* name) {
  auto field = object.find(name);
  if (field == object.end())
    return std::string{};
  if (!field->is_string())
    return damaged(name);
  return from_standard_base64(field->get_ref<const std::string&>());
}

result<std::vector<etcd_entry>> entries(const json& object) {
  std::vector<etcd_entry> parsed;
  auto list = object.find("kvs");
  if (list == object.end())
    return parsed;
  if (!list->is_array())
    return damaged("kvs");
  for (const auto& item : *list) {
    if (!item.is_object())
      return damaged("kvs");
    etcd_entry entry;
    TROUPE_ASSIGN(entry.key, bytes(item, "key"));
    TROUPE_ASSIGN(entry.value, bytes(item, "value"));
    TROUPE_ASSIGN(entry.lease, number(item, "lease"));
    parsed.push_back(std::move(entry));
  }
  return parsed;
}

// The end of a range of keys: the first key after all that begin with `prefix`.
std::string end_of(std::string_view prefix) {
  std::string end{prefix};
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff)
    end.pop_back();
  if (end.empty())
    return std::string(1, '\0');
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

std::string put_if(const etcd_entry& entry, json condition) {
  auto key = to_standard_base64(entry.key);
  condition["key"] = key;
  condition["result"] = "EQUAL";
  json put, range, transaction;
  put["requestPut"] = {{"key", key},
                       {"value", to_standard_base64(entry.value)},
                       {"lease", std::to_string(entry.lease)}};
  range["requestRange"]["key"] = key;
  transaction["compare"] = json::array({std::move(condition)});
  transaction["success"] = json::array({std::move(put)});
  transaction["failure"] = json::array({std::move(range)});
  return transaction.dump();
}

} // namespace

std::string to_standard_base64(std::string_view bytes) {
  std::string encoded;
  encoded.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    auto byte_at = [&](size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u;
    };
    auto group = byte_at(0) << 16 | byte_at(1) << 8 | byte_at(2);
    for (size_t k = 0; k < 4; ++k)
      encoded += i + k > bytes.size() ? '=' : alphabet[group >> (18 - 6 * k) & 63];
  }
  return encoded;
}

result<std::string> from_standard_base64(std::string_view text) {
  if (text.size() % 4 != 0)
    return damaged("a base64 text of an invalid length");
  std::string decoded;
  decoded.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    uint32_t group = 0;
    size_t count = 4;
    for (size_t k = 0; k < 4; ++k) {
      auto c = text[i + k];
      auto value = alphabet.find(c);
      if (c == '=' && i + 4 == text.size() && k >= 2) {
        count = std::min(count, k);
        value = 0;
      } else if (value == alphabet.npos || count < 4) {
        return damaged("an invalid base64 text");
      }
      group = group << 6 | static_cast<uint32_t>(value);
    }
    for (size_t k = 0; k + 1 < count; ++k)
      decoded += static_cast<char>(group >> (16 - 8 * k) & 255);
  }
  return decoded;
}

std::string etcd_range(std::string_view prefix, bool may_be_stale) {
  json request;
  request["key"] = to_standard_base64(prefix);
  request["range_end"] = to_standard_base64(end_of(prefix));
  request["serializable"] = may_be_stale;
  return request.dump();
}

result<std::vector<etcd_entry>> parse_etcd_range(std::string_view answer) {
  TROUPE_ASSIGN(auto root, parse_json(answer));
  return entries(root);
}

std::string etcd_grant(std::chrono::seconds time) {
  json request;
  request["TTL"] = std::to_string(time.count());
  return request.dump();
}

std::string etcd_keep_alive(int64_t lease) {
  json request;
  request["ID"] = std::to_string(lease);
  return request.dump();
}

std::string etcd_revoke(int64_t lease) { return etcd_keep_alive(lease); }

result<etcd_lease> parse_etcd_lease(std::string_view answer) {
  TROUPE_ASSIGN(auto root, parse_json(answer));
  // A stream of one answer wraps it in "result".
  if (auto streamed = root.find("result"); streamed != root.end() && streamed->is_object())
    root = json(*streamed);
  etcd_lease lease;
  TROUPE_ASSIGN(lease.id, number(root, "ID"));
  TROUPE_ASSIGN(auto left, number(root, "TTL"));
  constexpr int64_t max_left = int64_t{10} * 365 * 24 * 3600;
  lease.time_left = std::chrono::seconds{std::clamp<int64_t>(left, 0, max_left)};
  if (lease.id == 0)
    return damaged("a lease without an ID");
  return lease;
}

std::string etcd_put_if_absent(const etcd_entry& entry) {
  json condition;
  condition["target"] = "VERSION";
  condition["version"] = "0";
  return put_if(entry, std::move(condition));
}

std::string etcd_put_if_equal(const etcd_entry& entry, std::string_view expected) {
  json condition;
  condition["target"] = "VALUE";
  condition["value"] = to_standard_base64(expected);
  return put_if(entry, std::move(condition));
}

result<etcd_outcome> parse_etcd_outcome(std::string_view answer) {
  TROUPE_ASSIGN(auto root, parse_json(answer));
  etcd_outcome outcome;
  if (auto succeeded = root.find("succeeded"); succeeded != root.end()) {
    if (!succeeded->is_boolean())
      return damaged("succeeded");
    outcome.succeeded = succeeded->get<bool>();
  }
  if (auto responses = root.find("responses"); !outcome.succeeded && responses != root.end()) {
    if (!responses->is_array())
      return damaged("responses");
    for (const auto& response : *responses)
      for (const auto* field_name : {"responseRange", "response_range"})
        if (response.is_object() && response.contains(field_name) &&
            response[field_name].is_object()) {
          TROUPE_ASSIGN(auto current, entries(response[field_name]));
          outcome.current_entries.insert(outcome.current_entries.end(), current.begin(),
                                         current.end());
        }
  }
  return outcome;
}

} // namespace troupe
