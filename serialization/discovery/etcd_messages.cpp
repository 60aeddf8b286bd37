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

status damaged(std::string_view why) {
  return failure(error_kind::data_loss, "etcd has answered something else than expected: ", why);
}

// An object, or what etcd says is wrong.
result<json> parse(std::string_view answer) {
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
    return damaged("it is no JSON object");
  if (auto it = root.find("error"); it != root.end())
    return failure(error_kind::unavailable,
                   "etcd: ", it->is_string() ? it->get<std::string>() : it->dump());
  // All that etcd says well has a header. Since 3.6 its errors have a code and a message.
  auto within = root.find("result");
  if (root.contains("header") ||
      (within != root.end() && within->is_object() && within->contains("header")))
    return root;
  if (auto it = root.find("message"); it != root.end() && it->is_string())
    return failure(error_kind::unavailable, "etcd: ", it->get<std::string>());
  return damaged("it has no header");
}

// The gateway writes 64 bits as text, and leaves out what is 0.
result<int64_t> number(const json& in, const char* name) {
  auto it = in.find(name);
  if (it == in.end())
    return int64_t{0};
  if (it->is_number_integer())
    return it->get<int64_t>();
  if (!it->is_string())
    return damaged(name);
  const auto& text = it->get_ref<const std::string&>();
  int64_t found = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), found);
  if (problem != std::errc{} || end != text.data() + text.size())
    return damaged(name);
  return found;
}

result<std::string> bytes(const json& in, const char* name) {
  auto it = in.find(name);
  if (it == in.end())
    return std::string{};
  if (!it->is_string())
    return damaged(name);
  return from_standard_base64(it->get_ref<const std::string&>());
}

result<std::vector<etcd_entry>> entries(const json& in) {
  std::vector<etcd_entry> made;
  auto it = in.find("kvs");
  if (it == in.end())
    return made;
  if (!it->is_array())
    return damaged("kvs");
  for (const auto& each : *it) {
    if (!each.is_object())
      return damaged("kvs");
    etcd_entry one;
    TROUPE_ASSIGN(one.key, bytes(each, "key"));
    TROUPE_ASSIGN(one.value, bytes(each, "value"));
    TROUPE_ASSIGN(one.lease, number(each, "lease"));
    made.push_back(std::move(one));
  }
  return made;
}

// The first key that does not begin with it.
std::string end_of(std::string_view prefix) {
  std::string end{prefix};
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff)
    end.pop_back();
  if (end.empty())
    return std::string(1, '\0');
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

std::string put_if(const etcd_entry& what, json condition) {
  auto key = to_standard_base64(what.key);
  condition["key"] = key;
  condition["result"] = "EQUAL";
  json put, range, all;
  put["requestPut"] = {{"key", key},
                       {"value", to_standard_base64(what.value)},
                       {"lease", std::to_string(what.lease)}};
  range["requestRange"]["key"] = key;
  all["compare"] = json::array({std::move(condition)});
  all["success"] = json::array({std::move(put)});
  all["failure"] = json::array({std::move(range)});
  return all.dump();
}

} // namespace

std::string to_standard_base64(std::string_view bytes) {
  std::string made;
  made.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    auto at = [&](size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u;
    };
    auto all = at(0) << 16 | at(1) << 8 | at(2);
    for (size_t k = 0; k < 4; ++k)
      made += i + k > bytes.size() ? '=' : alphabet[all >> (18 - 6 * k) & 63];
  }
  return made;
}

result<std::string> from_standard_base64(std::string_view text) {
  if (text.size() % 4 != 0)
    return damaged("base64 of a length that no bytes have");
  std::string made;
  made.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    uint32_t all = 0;
    size_t count = 4;
    for (size_t k = 0; k < 4; ++k) {
      auto c = text[i + k];
      auto value = alphabet.find(c);
      if (c == '=' && i + 4 == text.size() && k >= 2) {
        count = std::min(count, k);
        value = 0;
      } else if (value == alphabet.npos || count < 4) {
        return damaged("no base64");
      }
      all = all << 6 | static_cast<uint32_t>(value);
    }
    for (size_t k = 0; k + 1 < count; ++k)
      made += static_cast<char>(all >> (16 - 8 * k) & 255);
  }
  return made;
}

std::string etcd_range(std::string_view prefix, bool may_be_late) {
  json all;
  all["key"] = to_standard_base64(prefix);
  all["range_end"] = to_standard_base64(end_of(prefix));
  all["serializable"] = may_be_late;
  return all.dump();
}

result<std::vector<etcd_entry>> parse_etcd_range(std::string_view answer) {
  TROUPE_ASSIGN(auto root, parse(answer));
  return entries(root);
}

std::string etcd_grant(std::chrono::seconds time) {
  json all;
  all["TTL"] = std::to_string(time.count());
  return all.dump();
}

std::string etcd_keep_alive(int64_t lease) {
  json all;
  all["ID"] = std::to_string(lease);
  return all.dump();
}

std::string etcd_revoke(int64_t lease) { return etcd_keep_alive(lease); }

result<etcd_lease> parse_etcd_lease(std::string_view answer) {
  TROUPE_ASSIGN(auto root, parse(answer));
  // A stream of one answer stands within a result.
  if (auto it = root.find("result"); it != root.end() && it->is_object())
    root = json(*it);
  etcd_lease made;
  TROUPE_ASSIGN(made.id, number(root, "ID"));
  TROUPE_ASSIGN(auto left, number(root, "TTL"));
  constexpr int64_t longest = int64_t{10} * 365 * 24 * 3600;
  made.left = std::chrono::seconds{std::clamp<int64_t>(left, 0, longest)};
  if (made.id == 0)
    return damaged("a lease without a number");
  return made;
}

std::string etcd_put_if_absent(const etcd_entry& what) {
  json condition;
  condition["target"] = "VERSION";
  condition["version"] = "0";
  return put_if(what, std::move(condition));
}

std::string etcd_put_instead(const etcd_entry& what, std::string_view instead_of) {
  json condition;
  condition["target"] = "VALUE";
  condition["value"] = to_standard_base64(instead_of);
  return put_if(what, std::move(condition));
}

result<etcd_outcome> parse_etcd_outcome(std::string_view answer) {
  TROUPE_ASSIGN(auto root, parse(answer));
  etcd_outcome made;
  if (auto it = root.find("succeeded"); it != root.end()) {
    if (!it->is_boolean())
      return damaged("succeeded");
    made.done = it->get<bool>();
  }
  if (auto it = root.find("responses"); !made.done && it != root.end()) {
    if (!it->is_array())
      return damaged("responses");
    for (const auto& each : *it)
      for (const auto* name : {"responseRange", "response_range"})
        if (each.is_object() && each.contains(name) && each[name].is_object()) {
          TROUPE_ASSIGN(auto found, entries(each[name]));
          made.there.insert(made.there.end(), found.begin(), found.end());
        }
  }
  return made;
}

} // namespace troupe
