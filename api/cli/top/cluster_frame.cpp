#include "troupe/api/cli/top/cluster_frame.hpp"

#include "troupe/runtime/insight/inspection_ref.hpp"
#include "troupe/runtime/types/printable.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

namespace troupe {
namespace {

using by_ref = std::map<std::string_view, const inspection*>;

void collect(const inspection& part, by_ref& to) {
  to[part.ref] = &part;
  for (const auto& child : part.children)
    collect(child, to);
}

int64_t whole(const inspection& of, std::string_view name) {
  return static_cast<int64_t>(number_of(of.find(name)));
}

bool is_silent(const link_row& one) { return one.last_heard > silent_after; }

class comparison {
public:
  comparison(const inspection& before, double seconds) : seconds_(seconds) {
    collect(before, before_);
  }

  cluster_frame made;

  void visit(const inspection& part) {
    if (part.kind == "task")
      return add_task(part);
    if (part.kind == "member")
      return add_member(part);
    if (part.kind == "cluster") {
      made.members.coordinator = text_of(part.find("coordinator"));
      made.members.change = whole(part, "change");
    }
    for (const auto& child : part.children)
      visit(child);
  }

private:
  // Per second, of what only grows. What began anew has no past.
  double rate(const inspection& now, std::string_view name) const {
    auto grown = number_of(now.find(name));
    double seconds = seconds_;
    auto it = same_ ? before_.find(now.ref) : before_.end();
    if (it != before_.end())
      grown -= number_of(it->second->find(name));
    else if (!same_)
      seconds = uptime_;
    return seconds > 0 ? std::max(grown, 0.0) / seconds : 0;
  }

  void add_task(const inspection& task) {
    task_row row{.task = task.ref, .problem = text_of(task.find("error"))};
    if (!row.problem.empty() || !task.find("incarnation")) {
      if (row.problem.empty())
        row.problem = "it was not asked";
      made.tasks.push_back(std::move(row));
      return;
    }
    auto it = before_.find(task.ref);
    same_ = it != before_.end() &&
            text_of(it->second->find("incarnation")) == text_of(task.find("incarnation"));
    uptime_ = row.uptime = number_of(task.find("uptime_seconds"));
    auto flag = [&](const char* name, bool usual) {
      auto* value = task.find(name);
      return value && std::get_if<bool>(value) ? std::get<bool>(*value) : usual;
    };
    row.draining = flag("draining", false);
    row.filled = flag("filled", true);
    row.steps_rate = rate(task, "steps_ended");
    row.failed_rate = rate(task, "steps_failed");
    row.busy = rate(task, "cpu_seconds");
    row.running = whole(task, "steps_running");
    row.connections = whole(task, "connections");
    row.resident = static_cast<uint64_t>(whole(task, "resident_bytes"));
    for (const auto& child : task.children) {
      if (child.kind == "device")
        row.device_bytes += static_cast<uint64_t>(whole(child, "bytes_in_use"));
      if (child.kind == "link") {
        auto link = link_of(task.ref, child);
        row.in_rate += link.in_rate;
        row.out_rate += link.out_rate;
        row.queued += link.queued;
        if (link.in_rate + link.out_rate > 0 || link.queued > 0 || is_silent(link))
          made.links.push_back(std::move(link));
      }
      if (child.kind == "hosted_session")
        made.sessions.push_back({.task = task.ref,
                                 .client = text_of(child.find("client")),
                                 .age = number_of(child.find("age_seconds")),
                                 .steps_rate = rate(child, "steps_ended"),
                                 .failed_rate = rate(child, "steps_failed"),
                                 .running = whole(child, "steps_running"),
                                 .in_line = whole(child, "steps_in_line"),
                                 .bytes = static_cast<uint64_t>(whole(child, "bytes"))});
      if (child.kind == "container")
        for (const auto& state : child.children)
          if (state.find("size"))
            add_queue(task.ref, state);
    }
    made.tasks.push_back(std::move(row));
  }

  void add_member(const inspection& of) {
    member_row row{text_of(of.find("task")), text_of(of.find("presence")),
                   text_of(of.find("incarnation")), text_of(of.find("address"))};
    auto& count = made.members;
    if (row.presence == "here") {
      ++count.here;
      return;
    }
    ++(row.presence == "unreachable" ? count.unreachable
       : row.presence == "left"      ? count.left
                                     : count.gone);
    made.away.push_back(std::move(row));
  }

  link_row link_of(const std::string& task, const inspection& of) const {
    return {.task = task,
            .peer = text_of(of.find("peer")),
            .last_heard = number_of(of.find("last_heard_seconds")),
            .in_rate = rate(of, "bytes_received"),
            .out_rate = rate(of, "bytes_sent"),
            .queued = static_cast<uint64_t>(whole(of, "bytes_queued")) +
                      static_cast<uint64_t>(whole(of, "bytes_announced"))};
  }

  void add_queue(const std::string& task, const inspection& state) {
    queue_row row{.task = task, .name = state.ref};
    if (auto ref = inspection_ref::parse(state.ref); ref && ref->parts.size() == 4)
      row.name = concat(ref->parts[2].id, ref->parts[2].id.empty() ? "" : "/", ref->parts[3].id);
    row.size = whole(state, "size");
    row.mean_size = number_of(state.find("mean_size"));
    row.puts_rate = rate(state, "puts_requests");
    row.takes_rate = rate(state, "takes_requests");
    row.puts_waiting = whole(state, "puts_waiting");
    row.takes_waiting = whole(state, "takes_waiting");
    made.queues.push_back(std::move(row));
  }

  by_ref before_;
  const double seconds_;
  bool same_ = false; // the task at hand was there before
  double uptime_ = 0;
};

// Columns that are as wide as their longest cell; the first is left-aligned.
class table {
public:
  explicit table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
  // Names and texts of other tasks may hold anything.
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
    std::string made;
    for (const auto& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i) {
        auto width = i < widths.size() ? widths[i] : 0;
        auto room = std::string(width - std::min(width, row[i].size()), ' ');
        if (row.size() <= 2) // a remark
          made += (i ? "  " : "") + row[i] + (i ? "" : room);
        else
          made += i == 0 ? row[i] + room : "  " + room + row[i];
      }
      made += '\n';
    }
    return made;
  }

private:
  std::vector<std::vector<std::string>> rows_;
};

std::string digits(double number) {
  char text[32];
  std::snprintf(text, sizeof text, number >= 100 || number == 0 ? "%.0f" : "%.1f", number);
  return text;
}

// A table below an empty line; nothing where there is nothing to show.
template <class Row, class Cells>
std::string section(std::vector<std::string> head, const std::vector<Row>& rows, size_t most,
                    Cells cells) {
  if (rows.empty())
    return {};
  table made{std::move(head)};
  for (size_t i = 0; i < rows.size() && i < most; ++i)
    made.add(cells(rows[i]));
  auto text = '\n' + made.text();
  return rows.size() > most ? concat(text, "and ", rows.size() - most, " more\n") : text;
}

} // namespace

cluster_frame compare(const inspection& before, const inspection& now, double seconds) {
  comparison of{before, seconds};
  of.made.seconds = seconds;
  of.visit(now);
  std::ranges::stable_sort(of.made.queues, std::greater{}, [](const queue_row& one) {
    return one.puts_waiting + one.takes_waiting;
  });
  std::ranges::stable_sort(of.made.away, {}, [](const member_row& one) { // for whom one might look
    return one.presence == "left";
  });
  std::ranges::stable_sort(of.made.sessions, std::greater{}, &session_row::steps_rate);
  std::ranges::stable_sort(of.made.links, std::greater{}, [](const link_row& one) {
    return std::pair{is_silent(one), one.in_rate + one.out_rate};
  });
  of.made.waits = summarize(waits_in(now));
  return std::move(of.made);
}

std::string print(const cluster_frame& of, size_t most_lines) {
  table tasks{{"TASK", "UP", "STEPS/S", "RUN", "FAIL/S", "CONN", "IN/S", "OUT/S", "QUEUED", "RSS",
               "DEVICES", "CPU", "STATE"}};
  for (const auto& one : of.tasks)
    if (!one.problem.empty())
      tasks.add({one.task, one.problem});
    else
      tasks.add({one.task, duration_text(one.uptime), digits(one.steps_rate), concat(one.running),
                 digits(one.failed_rate), concat(one.connections), bytes_text(one.in_rate),
                 bytes_text(one.out_rate), bytes_text(static_cast<double>(one.queued)),
                 bytes_text(static_cast<double>(one.resident)),
                 bytes_text(static_cast<double>(one.device_bytes)), digits(one.busy),
                 one.draining ? "draining"
                 : one.filled ? "ready"
                              : "unfilled"});
  auto text = tasks.text();
  std::vector<member_counts> joined;
  if (!of.members.coordinator.empty())
    joined.push_back(of.members);
  text += section({"COORDINATOR", "CHANGES", "HERE", "UNREACHABLE", "LEFT", "GONE"}, joined, 1,
                  [](const member_counts& all) -> std::vector<std::string> {
                    return {all.coordinator,         concat(all.change), concat(all.here),
                            concat(all.unreachable), concat(all.left),   concat(all.gone)};
                  });
  text += section({"MEMBER", "PRESENCE", "INCARNATION", "ADDRESS"}, of.away, most_lines,
                  [](const member_row& one) -> std::vector<std::string> {
                    return {one.member, one.presence, one.incarnation, one.address};
                  });
  text += section({"QUEUE", "TASK", "SIZE", "MEAN", "PUTS/S", "TAKES/S", "PUTS WAIT", "TAKES WAIT"},
                  of.queues, most_lines, [](const queue_row& one) -> std::vector<std::string> {
                    return {one.name,
                            one.task,
                            concat(one.size),
                            digits(one.mean_size),
                            digits(one.puts_rate),
                            digits(one.takes_rate),
                            concat(one.puts_waiting),
                            concat(one.takes_waiting)};
                  });
  text += section({"SESSION OF", "AT", "AGE", "STEPS/S", "FAIL/S", "RUN", "IN LINE", "BYTES"},
                  of.sessions, most_lines, [](const session_row& one) -> std::vector<std::string> {
                    return {one.client,
                            one.task,
                            duration_text(one.age),
                            digits(one.steps_rate),
                            digits(one.failed_rate),
                            concat(one.running),
                            concat(one.in_line),
                            bytes_text(static_cast<double>(one.bytes))};
                  });
  text += section({"LINK OF", "PEER", "HEARD", "IN/S", "OUT/S", "QUEUED"}, of.links, most_lines,
                  [](const link_row& one) -> std::vector<std::string> {
                    return {one.task,
                            one.peer,
                            duration_text(one.last_heard),
                            bytes_text(one.in_rate),
                            bytes_text(one.out_rate),
                            bytes_text(static_cast<double>(one.queued))};
                  });
  text += section({"WAITS", "FOR", "STEPS", "LONGEST"}, of.waits, most_lines,
                  [](const wait_summary& one) -> std::vector<std::string> {
                    return {one.task, one.target, concat(one.steps), duration_text(one.longest)};
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
