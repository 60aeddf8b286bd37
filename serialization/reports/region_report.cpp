#include "troupe/serialization/reports/region_report.hpp"

#include "troupe/runtime/types/printable.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace troupe {
namespace {

constexpr size_t max_listed_nodes = 8, max_columns = 100;

std::string counted(uint64_t number, std::string_view noun) {
  return concat(number, ' ', noun, number == 1 ? "" : "s");
}

// The nodes of a region, in the order of its code.
struct listed_region {
  uint64_t messages = 0;
  std::vector<std::string> nodes;
  std::set<std::string> seen;

  void add(const span_subject& subject) {
    if (subject.name.empty()) // a token that only signals the end of a region
      return;
    auto text = printable(concat(subject.op, " '", subject.name, '\''));
    if (seen.insert(text).second)
      nodes.push_back(subject.kind == span_kind::wait ? concat("answer of ", text)
                                                      : std::move(text));
  }
  // Appends the nodes to the line, and continues it on further lines.
  std::string text(std::string line) const {
    std::string lines;
    for (size_t i = 0; i < std::min(nodes.size(), max_listed_nodes); ++i) {
      line += i == 0 ? ":" : ",";
      if (i > 0 && line.size() + nodes[i].size() + 2 > max_columns) {
        lines += line + '\n';
        line = "#      ";
      }
      line += concat(' ', nodes[i]);
    }
    if (nodes.size() > max_listed_nodes)
      line += concat(" and ", nodes.size() - max_listed_nodes, " more");
    return lines + line + '\n';
  }
};

using region_key = std::pair<std::string, uint32_t>; // device and number

std::map<region_key, listed_region> regions_of(const task_statistics& task) {
  std::map<region_key, listed_region> regions;
  if (!task.subjects)
    return regions;
  for (const auto& subject : *task.subjects)
    if (subject.kind == span_kind::region)
      regions[{subject.device, subject.region}].messages = subject.messages;
  auto add = [&](bool waits) {
    for (const auto& subject : *task.subjects)
      if (subject.kind != span_kind::inner && subject.kind != span_kind::region &&
          (subject.kind == span_kind::wait) == waits)
        if (auto position = regions.find({subject.device, subject.region});
            position != regions.end())
          position->second.add(subject);
  };
  add(true); // a region that an answer starts names the wait first
  add(false);
  return regions;
}

std::string by_kind(const message_counts& counts) {
  std::string list;
  auto add = [&](uint64_t number, std::string_view noun) {
    if (number > 0)
      list += concat(list.empty() ? "" : ", ", counted(number, noun));
  };
  add(counts.starts, "start");
  add(counts.tokens, "token");
  add(counts.requests, "request");
  add(counts.answers, "answer");
  add(counts.sends, "send");
  if (counts.fetches > 0)
    list += concat(list.empty() ? "" : ", ", counts.fetches,
                   counts.fetches == 1 ? " fetch" : " fetches");
  add(counts.region_ends, "region end");
  add(counts.step_ends, "step end");
  return list;
}

} // namespace

std::string region_report(const step_statistics& step) {
  std::string report;
  for (const auto& task : step.tasks) {
    auto regions = regions_of(task);
    report += concat("# ", printable(task.task), ": ", counted(regions.size(), "region"), ", ",
                     counted(task.messages.total(), "message"), '\n');
    for (const auto& [key, region] : regions) {
      auto kind = key.first.find("/device:");
      auto device = kind == std::string::npos ? key.first : key.first.substr(kind + 8);
      report += region.text(concat("#   ", printable(device), " region ", key.second, ", after ",
                                   counted(region.messages, "message")));
    }
    report += concat("#   ", by_kind(task.messages), '\n');
    if (task.messages != task.expected_messages)
      report += concat("#   of a step that succeeds: ", by_kind(task.expected_messages), '\n');
  }
  return report;
}

} // namespace troupe
