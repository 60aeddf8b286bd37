#include "tests/support/trace_rules.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace troupe::test {
namespace {

using nlohmann::json;
using track = std::pair<int, int>; // process and thread

// Times are decimal microseconds; three digits after the point are nanoseconds.
constexpr double rounding = 0.0011;

track track_of(const json& event) {
  return {event.at("pid").get<int>(), event.at("tid").get<int>()};
}
double begin_of(const json& event) { return event.at("ts").get<double>(); }
double end_of(const json& event) { return begin_of(event) + event.at("dur").get<double>(); }

std::string describe_failure(const char* rule, const json& event) {
  return rule + (": " + event.dump());
}

// Slices of one thread, in the trace's order.
std::string broken_nesting(const std::vector<json>& slices) {
  std::vector<double> open; // ends of the enclosing slices
  double last = 0;
  for (const auto& slice : slices) {
    if (begin_of(slice) < last)
      return describe_failure("begins before the one before it", slice);
    last = begin_of(slice);
    while (!open.empty() && open.back() <= begin_of(slice) + rounding)
      open.pop_back();
    if (!open.empty() && end_of(slice) > open.back() + rounding)
      return describe_failure("ends after its enclosing slice", slice);
    open.push_back(end_of(slice));
  }
  return "";
}

bool within_a_slice(const json& point, const std::map<track, std::vector<json>>& slices) {
  auto track = slices.find(track_of(point));
  return track != slices.end() && std::ranges::any_of(track->second, [&](const json& entry) {
           return begin_of(entry) <= begin_of(point) + rounding &&
                  end_of(entry) >= begin_of(point) - rounding;
         });
}

std::string broken_pairs(const std::vector<json>& events, const char* first, const char* last) {
  std::map<std::string, json> open;
  for (const auto& event : events) {
    auto id = event.at("cat").get<std::string>() + ' ' + event.at("id").get<std::string>();
    if (event.at("ph") == first && !open.emplace(id, event).second)
      return describe_failure("its id is in use", event);
    if (event.at("ph") != last)
      continue;
    auto entry = open.find(id);
    if (entry == open.end())
      return describe_failure("ends an event that did not begin", event);
    if (begin_of(event) + rounding < begin_of(entry->second))
      return describe_failure("ends before it begins", event);
    open.erase(entry);
  }
  return open.empty() ? "" : describe_failure("does not end", open.begin()->second);
}

std::string check(const json& trace) {
  std::map<track, std::vector<json>> slices;
  std::set<int> named_processes;
  std::set<track> named_threads;
  std::vector<json> spans, arrows;
  std::map<std::pair<int, std::string>, double> counters; // time of each counter's last event
  for (const auto& trace_event : trace.at("traceEvents")) {
    auto phase = trace_event.at("ph").get<std::string>();
    auto track = track_of(trace_event);
    if (trace_event.at("name").get<std::string>().empty())
      return describe_failure("has no name", trace_event);
    if (phase == "M") {
      if (trace_event.at("args").at("name").get<std::string>().empty())
        return describe_failure("is a metadata event with an empty name", trace_event);
      trace_event.at("name") == "process_name" ? (void)named_processes.insert(track.first)
                                               : (void)named_threads.insert(track);
      continue;
    }
    if (begin_of(trace_event) < 0)
      return describe_failure("begins before the trace", trace_event);
    if (phase == "X") {
      if (trace_event.at("dur").get<double>() < 0)
        return describe_failure("has a negative duration", trace_event);
      slices[track].push_back(trace_event);
    } else if (phase == "b" || phase == "e") {
      spans.push_back(trace_event);
    } else if (phase == "s" || phase == "f") {
      arrows.push_back(trace_event);
    } else if (phase == "C") {
      if (trace_event.at("args").at("bytes").get<double>() < 0)
        return describe_failure("counts a negative number of bytes", trace_event);
      if (auto& last = counters[{track.first, trace_event.at("name").get<std::string>()}];
          begin_of(trace_event) < std::exchange(last, begin_of(trace_event)))
        return describe_failure("a counter goes back in time", trace_event);
    } else {
      return describe_failure("is of an unknown phase", trace_event);
    }
    if (!named_processes.contains(track.first))
      return describe_failure("its process has no name", trace_event);
  }
  for (const auto& [track, slices_of_track] : slices) {
    if (!named_threads.contains(track))
      return describe_failure("its thread has no name", slices_of_track.front());
    if (auto outcome = broken_nesting(slices_of_track); !outcome.empty())
      return outcome;
  }
  for (const auto& arrow : arrows)
    if (!within_a_slice(arrow, slices))
      return describe_failure("an end of an arrow lies outside all slices", arrow);
  auto outcome = broken_pairs(spans, "b", "e");
  return outcome.empty() ? broken_pairs(arrows, "s", "f") : outcome;
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
  std::vector<json> events;
  for (const auto& trace_event : trace.at("traceEvents"))
    if (trace_event.at("ph") == "X" && trace_event.at("name") == name)
      events.push_back(trace_event);
  return events;
}

} // namespace troupe::test
