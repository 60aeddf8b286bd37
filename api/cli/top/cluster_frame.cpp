#include "troupe/api/cli/top/cluster_frame.hpp"
// Compares two inspections of a cluster, and prints the result as tables.

#include "troupe/runtime/insight/inspection_ref.hpp"
#include "troupe/runtime/types/printable.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

namespace troupe {
namespace {

using by_ref = std::map<std::string_view, const inspection*>;

void collect(const inspection& part, by_ref& parts) {
  parts[part.ref] = &part;
  for (const auto& child : part.children)
    collect(child, parts);
}

int64_t integer_of(const inspection& part, std::string_view name) {
  return static_cast<int64_t>(number_of(part.find(name)));
}

bool is_silent(const link_row& link) { return link.last_heard > silent_after; }

class comparison {
public:
  comparison(const inspection& before, double seconds) : seconds_(seconds) {
    collect(before, before_);
  }

  cluster_frame frame;

  void visit(const inspection& part) {
    if (part.kind == "task")
      return add_task(part);
    if (part.kind == "member")
      return add_member(part);
    if (part.kind == "cluster") {
      frame.members.coordinator = text_of(part.find("coordinator"));
      frame.members.change = integer_of(part, "change");
    }
    for (const auto& child : part.children)
      visit(child);
  }

private:
  // The increase of a counter per second; for a new or restarted part, since its start.
  double rate(const inspection& part, std::string_view name) const {
    auto increase = number_of(part.find(name));
    double seconds = seconds_;
    auto earlier = is_same_process_ ? before_.find(part.ref) : before_.end();
    if (earlier != before_.end())
      increase -= number_of(earlier->second->find(name));
    else if (!is_same_process_)
      seconds = uptime_;
    return seconds > 0 ? std::max(increase, 0.0) / seconds : 0;
  }

  void add_task(const inspection& task) {
    task_row row{.task = task.ref, .problem = text_of(task.find("error"))};
    if (!row.problem.empty() || !task.find("incarnation")) {
      if (row.problem.empty())
        row.problem = "it was not queried";
      frame.tasks.push_back(std::move(row));
      return;
    }
    auto earlier = before_.find(task.ref);
    is_same_process_ = earlier != before_.end() && text_of(earlier->second->find("incarnation")) ==
                                                       text_of(task.find("incarnation"));
    uptime_ = row.uptime = number_of(task.find("uptime_seconds"));
    auto flag = [&](const char* name, bool usual) {
      auto* value = task.find(name);
      return value && std::get_if<bool>(value) ? std::get<bool>(*value) : usual;
    };
    row.draining = flag("draining", false);
    row.is_initialized = flag("initialized", true);
    row.steps_rate = rate(task, "steps_ended");
    row.failed_rate = rate(task, "steps_failed");
    row.busy = rate(task, "cpu_seconds");
    row.running = integer_of(task, "steps_running");
    row.connections = integer_of(task, "connections");
    row.resident = static_cast<uint64_t>(integer_of(task, "resident_bytes"));
    for (const auto& child : task.children) {
      if (child.kind == "device")
        row.device_bytes += static_cast<uint64_t>(integer_of(child, "bytes_in_use"));
      if (child.kind == "link") {
        auto link = link_of(task.ref, child);
        row.in_rate += link.in_rate;
        row.out_rate += link.out_rate;
        row.queued += link.queued;
        if (link.in_rate + link.out_rate > 0 || link.queued > 0 || is_silent(link))
          frame.links.push_back(std::move(link));
      }
      if (child.kind == "hosted_session")
        frame.sessions.push_back({.task = task.ref,
                                  .client = text_of(child.find("client")),
                                  .age = number_of(child.find("age_seconds")),
                                  .steps_rate = rate(child, "steps_ended"),
                                  .failed_rate = rate(child, "steps_failed"),
                                  .running = integer_of(child, "steps_running"),
                                  .queued_steps = integer_of(child, "queued_steps"),
                                  .bytes = static_cast<uint64_t>(integer_of(child, "bytes"))});
      if (child.kind == "container")
        for (const auto& state : child.children)
          if (state.find("size"))
            add_queue(task.ref, state);
    }
    frame.tasks.push_back(std::move(row));
  }

  void add_member(const inspection& member) {
    member_row row{text_of(member.find("task")), text_of(member.find("presence")),
                   text_of(member.find("incarnation")), text_of(member.find("address"))};
    auto& counts = frame.members;
    if (row.presence == "here") {
      ++counts.present;
      return;
    }
    ++(row.presence == "unreachable" ? counts.unreachable
       : row.presence == "left"      ? counts.left
                                     : counts.gone);
    frame.away.push_back(std::move(row));
  }

  link_row link_of(const std::string& task, const inspection& link) const {
    return {.task = task,
            .peer = text_of(link.find("peer")),
            .last_heard = number_of(link.find("last_heard_seconds")),
            .in_rate = rate(link, "bytes_received"),
            .out_rate = rate(link, "bytes_sent"),
            .queued = static_cast<uint64_t>(integer_of(link, "bytes_queued")) +
                      static_cast<uint64_t>(integer_of(link, "bytes_announced"))};
  }

  void add_queue(const std::string& task, const inspection& state) {
    queue_row row{.task = task, .name = state.ref};
    if (auto ref = inspection_ref::parse(state.ref); ref && ref->parts.size() == 4)
      row.name = concat(ref->parts[2].id, ref->parts[2].id.empty() ? "" : "/", ref->parts[3].id);
    row.size = integer_of(state, "size");
    row.mean_size = number_of(state.find("mean_size"));
    row.puts_rate = rate(state, "puts_requests");
    row.takes_rate = rate(state, "takes_requests");
    row.puts_waiting = integer_of(state, "puts_waiting");
    row.takes_waiting = integer_of(state, "takes_waiting");
    frame.queues.push_back(std::move(row));
  }

  by_ref before_;
  const double seconds_;
  bool is_same_process_ = false; // the current task was not restarted since the earlier inspection
  double uptime_ = 0;
};

// A table with columns as wide as their longest cell; the first column is left-aligned.
class table {
public:
  explicit table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
  // Cells are made printable, because names and texts of other tasks may hold any character.
  void add(std::vector<std::string> row) {
    for (auto& cell : row)
      cell = printable(cell);
    rows_.push_back(std::move(row));
  }

  std::string text() const {
    std::vector<size_t> widths;
    for (const auto& row : rows_)
      for (size_t i = 0; i < row.size() && row.size() > 2; ++i) {
        widths.resize(std::max(widths.size(), i + 1));
        widths[i] = std::max(widths[i], row[i].size());
      }
    std::string text;
    for (const auto& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i) {
        auto width = i < widths.size() ? widths[i] : 0;
        auto padding = std::string(width - std::min(width, row[i].size()), ' ');
        if (row.size() <= 2) // a row with a message
          text += (i ? "  " : "") + row[i] + (i ? "" : padding);
        else
          text += i == 0 ? row[i] + padding : "  " + padding + row[i];
      }
      text += '\n';
    }
    return text;
  }

private:
  std::vector<std::vector<std::string>> rows_;
};

std::string digits(double number) {
  char text[32];
  std::snprintf(text, sizeof text, number >= 100 || number == 0 ? "%.0f" : "%.1f", number);
  return text;
}

// Returns a table below an empty line, or an empty text for no rows.
template <class Row, class Cells>
std::string section(std::vector<std::string> head, const std::vector<Row>& rows, size_t max_rows,
                    Cells cells) {
  if (rows.empty())
    return {};
  table rows_table{std::move(head)};
  for (size_t i = 0; i < rows.size() && i < max_rows; ++i)
    rows_table.add(cells(rows[i]));
  auto text = '\n' + rows_table.text();
  return rows.size() > max_rows ? concat(text, "and ", rows.size() - max_rows, " more\n") : text;
}

// Returns the table of tasks. A task that did not answer has a row with the problem.
std::string text_of_tasks(const std::vector<task_row>& rows) {
  table tasks{{"TASK", "UP", "STEPS/S", "RUN", "FAIL/S", "CONN", "IN/S", "OUT/S", "QUEUED", "RSS",
               "DEVICES", "CPU", "STATE"}};
  for (const auto& task : rows)
    if (!task.problem.empty())
      tasks.add({task.task, task.problem});
    else
      tasks.add({task.task, duration_text(task.uptime), digits(task.steps_rate),
                 concat(task.running), digits(task.failed_rate), concat(task.connections),
                 bytes_text(task.in_rate), bytes_text(task.out_rate),
                 bytes_text(static_cast<double>(task.queued)),
                 bytes_text(static_cast<double>(task.resident)),
                 bytes_text(static_cast<double>(task.device_bytes)), digits(task.busy),
                 task.draining         ? "draining"
                 : task.is_initialized ? "ready"
                                       : "uninitialized"});
  return tasks.text();
}

} // namespace

cluster_frame compare(const inspection& before, const inspection& now, double seconds) {
  comparison changes{before, seconds};
  changes.frame.seconds = seconds;
  changes.visit(now);
  std::ranges::stable_sort(changes.frame.queues, std::greater{}, [](const queue_row& queue) {
    return queue.puts_waiting + queue.takes_waiting;
  });
  std::ranges::stable_sort(changes.frame.away, {}, [](const member_row& member) {
    return member.presence == "left"; // members that have left deliberately are listed last
  });
  std::ranges::stable_sort(changes.frame.sessions, std::greater{}, &session_row::steps_rate);
  std::ranges::stable_sort(changes.frame.links, std::greater{}, [](const link_row& link) {
    return std::pair{is_silent(link), link.in_rate + link.out_rate};
  });
  changes.frame.waits = summarize(waits_in(now));
  return std::move(changes.frame);
}

std::string print(const cluster_frame& frame, size_t max_lines) {
  auto text = text_of_tasks(frame.tasks);
  std::vector<member_counts> joined_clusters;
  if (!frame.members.coordinator.empty())
    joined_clusters.push_back(frame.members);
  text +=
      section({"COORDINATOR", "CHANGES", "HERE", "UNREACHABLE", "LEFT", "GONE"}, joined_clusters, 1,
              [](const member_counts& counts) -> std::vector<std::string> {
                return {counts.coordinator,         concat(counts.change), concat(counts.present),
                        concat(counts.unreachable), concat(counts.left),   concat(counts.gone)};
              });
  text += section({"MEMBER", "PRESENCE", "INCARNATION", "ADDRESS"}, frame.away, max_lines,
                  [](const member_row& member) -> std::vector<std::string> {
                    return {member.member, member.presence, member.incarnation, member.address};
                  });
  text += section({"QUEUE", "TASK", "SIZE", "MEAN", "PUTS/S", "TAKES/S", "PUTS WAIT", "TAKES WAIT"},
                  frame.queues, max_lines, [](const queue_row& queue) -> std::vector<std::string> {
                    return {queue.name,
                            queue.task,
                            concat(queue.size),
                            digits(queue.mean_size),
                            digits(queue.puts_rate),
                            digits(queue.takes_rate),
                            concat(queue.puts_waiting),
                            concat(queue.takes_waiting)};
                  });
  text += section({"SESSION OF", "AT", "AGE", "STEPS/S", "FAIL/S", "RUN", "QUEUED", "BYTES"},
                  frame.sessions, max_lines,
                  [](const session_row& session) -> std::vector<std::string> {
                    return {session.client,
                            session.task,
                            duration_text(session.age),
                            digits(session.steps_rate),
                            digits(session.failed_rate),
                            concat(session.running),
                            concat(session.queued_steps),
                            bytes_text(static_cast<double>(session.bytes))};
                  });
  text += section({"LINK OF", "PEER", "HEARD", "IN/S", "OUT/S", "QUEUED"}, frame.links, max_lines,
                  [](const link_row& link) -> std::vector<std::string> {
                    return {link.task,
                            link.peer,
                            duration_text(link.last_heard),
                            bytes_text(link.in_rate),
                            bytes_text(link.out_rate),
                            bytes_text(static_cast<double>(link.queued))};
                  });
  text +=
      section({"WAITS", "FOR", "STEPS", "LONGEST"}, frame.waits, max_lines,
              [](const wait_summary& wait) -> std::vector<std::string> {
                return {wait.task, wait.target, concat(wait.steps), duration_text(wait.longest)};
              });
  return text;
}

std::string bytes_text(double bytes) {
  constexpr const char* units[] = {"B", "KB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit > 0 && bytes < 100 ? "%.1f %s" : "%.0f %s", bytes,
                units[unit]);
  return text;
}

} // namespace troupe
