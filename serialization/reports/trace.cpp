#include "troupe/serialization/reports/trace.hpp"

#include "troupe/serialization/storage/file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace troupe {
namespace {

using nlohmann::json;

// Threads have numbers from 0; their tracks are below those of steps and waits.
constexpr uint32_t first_thread_track = 1;

class timeline_writer {
public:
  explicit timeline_writer(std::span<const step_statistics> steps) {
    for (const auto& step : steps) {
      origin_ = std::min(origin_, step.begin_ns);
      for (const auto& task : step.tasks) // a task's clock may be a little early
        origin_ = std::min(origin_, task.begin_ns);
    }
    for (const auto& step : steps)
      draw(step);
  }

  json events() && {
    // Viewers nest slices by their order: outer ones first.
    std::ranges::stable_sort(slices_, [](const json& left, const json& right) {
      auto key = [](const json& slice) {
        return std::tuple{slice["pid"].get<int>(), slice["tid"].get<uint32_t>(),
                          slice["ts"].get<double>(), -slice.value("dur", 0.0)};
      };
      return key(left) < key(right);
    });
    for (auto& slice : slices_)
      events_.push_back(std::move(slice));
    for (const auto& [process_and_name, counter] : memory_)
      for (const auto& [ns, bytes] : counter)
        events_.push_back({{"ph", "C"},
                           {"name", process_and_name.second},
                           {"pid", process_and_name.first},
                           {"tid", 0},
                           {"ts", micros(ns)},
                           {"args", {{"bytes", bytes}}}});
    return std::move(events_);
  }

private:
  // Times of other tasks are not trusted: their distance may not fit, but must not overflow.
  double micros(int64_t ns) const {
    auto distance = static_cast<uint64_t>(ns) - static_cast<uint64_t>(origin_);
    return static_cast<double>(static_cast<int64_t>(distance)) / 1000;
  }

  int process(const std::string& task) {
    auto [position, is_new] = processes_.emplace(task, static_cast<int>(processes_.size()) + 1);
    if (is_new)
      events_.push_back({{"ph", "M"},
                         {"name", "process_name"},
                         {"pid", position->second},
                         {"tid", 0},
                         {"args", {{"name", task}}}});
    return position->second;
  }

  uint32_t thread(int process, uint32_t number) {
    auto track = number + first_thread_track;
    if (threads_.emplace(std::pair{process, track}, true).second)
      events_.push_back({{"ph", "M"},
                         {"name", "thread_name"},
                         {"pid", process},
                         {"tid", track},
                         {"args", {{"name", name_of_track(number)}}}});
    return track;
  }

  static std::string name_of_track(uint32_t number) {
    if (number < device_tracks)
      return concat("thread ", number);
    constexpr std::string_view kinds[] = {"", " to the host", " from the host"};
    auto kind = (number - device_tracks) >> 16;
    return concat("gpu:", (number - device_tracks) & 0xffff, kind < 3 ? kinds[kind] : "");
  }

  void draw_memory(int process, const memory_timeline& timeline) {
    auto kind = timeline.device.find("/device:");
    auto name = concat("memory of /", kind == std::string::npos ? timeline.device
                                                                : timeline.device.substr(kind + 8));
    auto& counter = memory_[{process, name}];
    for (size_t i = 0; i < std::min(timeline.at_ns.size(), timeline.bytes.size()); ++i)
      counter[timeline.at_ns[i]] = timeline.bytes[i];
  }

  // Draws a span that may overlap with others of its kind: a pair of events with an id.
  void draw_span(int process, const std::string& name, std::string_view category, int64_t begin,
                 int64_t end, json arguments) {
    auto id = concat(next_id_++);
    events_.push_back({{"ph", "b"},
                       {"name", name},
                       {"cat", category},
                       {"id", id},
                       {"pid", process},
                       {"tid", 0},
                       {"ts", micros(begin)},
                       {"args", std::move(arguments)}});
    events_.push_back({{"ph", "e"},
                       {"name", name},
                       {"cat", category},
                       {"id", id},
                       {"pid", process},
                       {"tid", 0},
                       {"ts", micros(end)}});
  }

  void draw_slice(int process, const step_span& span, const span_subject& subject, uint64_t step) {
    json arguments{{"step", concat(step)}, {"device", subject.device}}; // may be beyond 2^53
    if (!subject.op.empty())
      arguments["op"] = subject.op;
    if (span.bytes > 0)
      arguments["bytes"] = span.bytes;
    if (!subject.peer.empty())
      arguments["peer"] = subject.peer;
    constexpr std::string_view categories[] = {"node", "read", "send", "wait", "region"};
    slices_.push_back({{"ph", "X"},
                       {"name", subject.name},
                       {"cat", categories[static_cast<size_t>(subject.kind)]},
                       {"pid", process},
                       {"tid", thread(process, span.thread)},
                       {"ts", micros(span.begin_ns)},
                       {"dur", static_cast<double>(span.end_ns - span.begin_ns) / 1000},
                       {"args", std::move(arguments)}});
  }

  struct point {
    int process = 0;
    uint32_t track = 0;
    int64_t begin_ns = 0, end_ns = 0; // of the slice that an arrow begins or ends at
  };
  using edge_key = std::pair<std::string, uint32_t>; // receiving device and key

  void draw(const step_statistics& step) {
    std::map<edge_key, point> sent, received;
    for (const auto& task : step.tasks) {
      auto process_id = process(task.task);
      draw_span(process_id, concat("step ", step.step), "step", task.begin_ns, task.end_ns,
                {{"allocated bytes", task.allocated_bytes},
                 {"peak bytes", task.peak_bytes},
                 {"messages", task.messages.total()}});
      for (const auto& timeline : task.memory)
        draw_memory(process_id, timeline);
      std::map<std::pair<std::string, uint32_t>, const step_span*> regions; // by device and number
      for (const auto& span : task.spans)
        if (const auto& subject = task.subject_of(span); subject.kind == span_kind::region)
          regions[{subject.device, subject.region}] = &span;
      for (const auto& span : task.spans) {
        const auto& subject = task.subject_of(span);
        if (subject.kind == span_kind::inner) {
          draw_span(process_id, subject.name, "inner", span.begin_ns, span.end_ns,
                    {{"step", concat(step.step)},
                     {"device", subject.device},
                     {"op", subject.op},
                     {"runs", span.runs}});
          continue;
        }
        if (subject.kind != span_kind::wait) {
          draw_slice(process_id, span, subject, step.step);
          if (subject.kind == span_kind::send && span.thread < device_tracks)
            sent[{subject.peer, subject.key}] = {process_id, thread(process_id, span.thread),
                                                 span.begin_ns, span.end_ns};
          continue;
        }
        draw_span(process_id, concat("wait: ", subject.name), "wait", span.begin_ns, span.end_ns,
                  {{"step", concat(step.step)},
                   {"for", subject.peer.empty() ? subject.op : subject.peer},
                   {"bytes", span.bytes}});
        auto woken_region = regions.find({subject.device, subject.region});
        if (!subject.peer.empty() && woken_region != regions.end())
          received[{subject.device, subject.key}] = {
              process_id, thread(process_id, woken_region->second->thread),
              woken_region->second->begin_ns, woken_region->second->end_ns};
      }
    }
    for (const auto& [edge, from] : sent)
      if (auto to = received.find(edge); to != received.end())
        draw_arrow(from, to->second);
  }

  void draw_arrow(const point& from, const point& to) {
    // The clocks of two tasks agree up to half a round trip: an arrow must not lead back in time.
    auto head = std::max(to.begin_ns, from.begin_ns);
    if (head > to.end_ns)
      return;
    auto id = concat(next_id_++);
    auto arrow_event = [&](const char* phase, const point& slice, int64_t ns) {
      return json{{"ph", phase},          {"name", "tensor"},   {"cat", "tensor"},  {"id", id},
                  {"pid", slice.process}, {"tid", slice.track}, {"ts", micros(ns)}, {"bp", "e"}};
    };
    events_.push_back(arrow_event("s", from, from.begin_ns));
    events_.push_back(arrow_event("f", to, head));
  }

  int64_t origin_ = std::numeric_limits<int64_t>::max();
  uint64_t next_id_ = 1;
  std::map<std::string, int> processes_;
  std::map<std::pair<int, uint32_t>, bool> threads_;
  json events_ = json::array();
  // Steps that ran at the same time report the same memory: one counter by process and device.
  std::map<std::pair<int, std::string>, std::map<int64_t, uint64_t>> memory_;
  std::vector<json> slices_;
};

} // namespace

std::string trace_json(std::span<const step_statistics> steps) {
  json root{{"displayTimeUnit", "ns"}, {"traceEvents", timeline_writer{steps}.events()}};
  // Names come from the user, in any encoding.
  return root.dump(-1, ' ', false, json::error_handler_t::replace);
}

status write_trace(const std::string& path, std::span<const step_statistics> steps) {
  return write_file(path, trace_json(steps) + '\n').with_context("the trace");
}

} // namespace troupe
