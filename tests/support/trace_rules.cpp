#include "tests/support/trace_rules.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace troupe::test {
namespace {

using nlohmann::json;
using track = std::pair<int, int>; // process and thread

// Times are micros in decimals; three digits are nanoseconds.
constexpr double rounding = 0.0011;

track track_of(const json& event) {
  return {event.at("pid").get<int>(), event.at("tid").get<int>()};
}
double begin_of(const json& event) { return event.at("ts").get<double>(); }
double end_of(const json& event) { return begin_of(event) + event.at("dur").get<double>(); }

std::string device_error(const char* rule, const json& event) {
  return rule + (": " + event.dump());
}

// Slices of one thread, in the trace's order.
std::string broken_nesting(const std::vector<json>& slices) {
  std::vector<double> open; // where the enclosing ones end
  double last = 0;
  for (const auto& one : slices) {
    if (begin_of(one) < last)
      return device_error("begins before the one before it", one);
    last = begin_of(one);
    while (!open.empty() && open.back() <= begin_of(one) + rounding)
      open.pop_back();
    if (!open.empty() && end_of(one) > open.back() + rounding)
      return device_error("ends after what encloses it", one);
    open.push_back(end_of(one));
  }
  return "";
}

bool within_a_slice(const json& point, const std::map<track, std::vector<json>>& slices) {
  auto on = slices.find(track_of(point));
  return on != slices.end() && std::ranges::any_of(on->second, [&](const json& one) {
           return begin_of(one) <= begin_of(point) + rounding &&
                  end_of(one) >= begin_of(point) - rounding;
         });
}

std::string broken_pairs(const std::vector<json>& events, const char* first, const char* last) {
  std::map<std::string, json> open;
  for (const auto& one : events) {
    auto id = one.at("cat").get<std::string>() + ' ' + one.at("id").get<std::string>();
    if (one.at("ph") == first && !open.emplace(id, one).second)
      return device_error("its id is in use", one);
    if (one.at("ph") != last)
      continue;
    auto it = open.find(id);
    if (it == open.end())
      return device_error("ends what did not begin", one);
    if (begin_of(one) + rounding < begin_of(it->second))
      return device_error("ends before it begins", one);
    open.erase(it);
  }
  return open.empty() ? "" : device_error("does not end", open.begin()->second);
}

std::string check(const json& trace) {
  std::map<track, std::vector<json>> slices;
  std::set<int> named_processes;
  std::set<track> named_threads;
  std::vector<json> spans, arrows;
  std::map<std::pair<int, std::string>, double> counters; // when each was last told
  for (const auto& one : trace.at("traceEvents")) {
    auto phase = one.at("ph").get<std::string>();
    auto on = track_of(one);
    if (one.at("name").get<std::string>().empty())
      return device_error("has no name", one);
    if (phase == "M") {
      if (one.at("args").at("name").get<std::string>().empty())
        return device_error("gives no name", one);
      one.at("name") == "process_name" ? (void)named_processes.insert(on.first)
                                       : (void)named_threads.insert(on);
      continue;
    }
    if (begin_of(one) < 0)
      return device_error("lies before the beginning", one);
    if (phase == "X") {
      if (one.at("dur").get<double>() < 0)
        return device_error("takes less than no time", one);
      slices[on].push_back(one);
    } else if (phase == "b" || phase == "e") {
      spans.push_back(one);
    } else if (phase == "s" || phase == "f") {
      arrows.push_back(one);
    } else if (phase == "C") {
      if (one.at("args").at("bytes").get<double>() < 0)
        return device_error("counts less than nothing", one);
      if (auto& last = counters[{on.first, one.at("name").get<std::string>()}];
          begin_of(one) < std::exchange(last, begin_of(one)))
        return device_error("a counter goes back in time", one);
    } else {
      return device_error("is of an unknown phase", one);
    }
    if (!named_processes.contains(on.first))
      return device_error("its process has no name", one);
  }
  for (const auto& [on, of] : slices) {
    if (!named_threads.contains(on))
      return device_error("its thread has no name", of.front());
    if (auto why = broken_nesting(of); !why.empty())
      return why;
  }
  for (const auto& one : arrows)
    if (!within_a_slice(one, slices))
      return device_error("hangs in the air", one);
  auto why = broken_pairs(spans, "b", "e");
  return why.empty() ? broken_pairs(arrows, "s", "f") : why;
}

} // namespace

std::string broken_rule(const json& trace) {
  try {
    return check(trace);
  } catch (const json::exception& missing) {
    return missing.what();
  }
}

std::vector<json> slices(const json& trace, std::string_view name) {
  std::vector<json> found;
  for (const auto& one : trace.at("traceEvents"))
    if (one.at("ph") == "X" && one.at("name") == name)
      found.push_back(one);
  return found;
}

} // namespace troupe::test
