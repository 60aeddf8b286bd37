#include "troupe/api/cli/top/wait_report.hpp"

#include "tests/support/catch.hpp"
#include "troupe/api/cli/top/cluster_frame.hpp"

namespace troupe::test::wait_report_test {

namespace {

inspection wait(const std::string& wait_kind, const std::string& node, const std::string& target,
                double seconds) {
  inspection inspected{"w", "wait"};
  inspected.add("for", wait_kind);
  inspected.add("node", node);
  if (!target.empty())
    inspected.add("target", target);
  inspected.add("seconds", seconds);
  return inspected;
}

inspection step(const std::string& task, const std::string& id, std::vector<inspection> wait_list) {
  return {.ref = task + "/step:" + id,
          .kind = "step",
          .properties = {},
          .children = std::move(wait_list)};
}

// A worker waits for a tensor of a ps, which waits for a queue element; another step runs.
inspection stuck_cluster() {
  const std::string worker = "/job:worker/task:0", ps = "/job:ps/task:0";
  auto take = wait("state", "QueueDequeue 'take' (a.cpp:1)", "queue 'rows'", 12);
  take.add("name", std::string{"rows"});
  inspection queue{ps + "/container:/queue:rows", "queue"};
  queue.add("content", std::string{"0 of 10 elements, 1 dequeues wait"});
  inspection ps_part{.ref = ps, .kind = "task", .properties = {}, .children = {}};
  ps_part.children = {
      step(ps, "f.3", {take}),
      {.ref = ps + "/container:", .kind = "container", .properties = {}, .children = {queue}}};
  inspection worker_part{.ref = worker, .kind = "task", .properties = {}, .children = {}};
  worker_part.children = {
      step(worker, "f.3", {wait("tensor", "_Recv 'y'", ps + "/device:cpu:0", 12.5)}),
      step(worker, "f.4", {wait("region", "region 0 of 1 instruction", "", 0.001)})};
  return {.ref = "/",
          .kind = "cluster",
          .properties = {},
          .children = {
              {.ref = "/job:ps", .kind = "job", .properties = {}, .children = {ps_part}},
              {.ref = "/job:worker", .kind = "job", .properties = {}, .children = {worker_part}}}};
}

} // namespace

TEST_CASE("a wait for another task's tensor is no cause where that task waits in the same step") {
  auto cluster_waits = waits_in(stuck_cluster());
  REQUIRE(cluster_waits.size() == 3);
  CHECK(cluster_waits[0].task == "/job:ps/task:0");
  CHECK(cluster_waits[0].is_cause);
  CHECK(cluster_waits[0].detail == "0 of 10 elements, 1 dequeues wait");
  CHECK(cluster_waits[1].other_task == "/job:ps/task:0");
  CHECK(!cluster_waits[1].is_cause);
  CHECK(cluster_waits[2].step == "f.4");
}

TEST_CASE("waits are reported by pairs of tasks first, and then by step") {
  CHECK(print_waits(waits_in(stuck_cluster()), 1) ==
        "/job:worker/task:0 waits for /job:ps/task:0: 1 step, the longest for 12.5 s\n"
        "/job:ps/task:0 waits for queue 'rows': 1 step, the longest for 12.0 s\n"
        "\n"
        "step f.3\n"
        "  /job:ps/task:0 waits for queue 'rows' (0 of 10 elements, 1 dequeues wait): "
        "QueueDequeue 'take' (a.cpp:1), for 12.0 s\n"
        "  /job:worker/task:0 waits for /job:ps/task:0: _Recv 'y', for 12.5 s (because that task "
        "waits "
        "itself)\n"
        "and more steps\n");
  CHECK(print_waits({}, 5) == "no step waits\n");
}

TEST_CASE("rates are computed between two samples, and start again with a new incarnation") {
  auto task_at = [](double steps, const std::string& incarnation, double uptime) {
    inspection link{"/job:ps/task:0/link:client:5", "link"};
    link.add("peer", std::string{"client 5"});
    link.add("bytes_received", static_cast<int64_t>(steps * 100));
    inspection queue{"/job:ps/task:0/container:box/queue:rows", "queue"};
    queue.add("size", int64_t{3});
    queue.add("puts_requests", static_cast<int64_t>(steps));
    inspection task{.ref = "/job:ps/task:0", .kind = "task", .properties = {}, .children = {}};
    task.add("incarnation", incarnation);
    task.add("uptime_seconds", uptime);
    task.add("steps_ended", static_cast<int64_t>(steps));
    task.children = {link,
                     {.ref = "/job:ps/task:0/container:box",
                      .kind = "container",
                      .properties = {},
                      .children = {queue}}};
    return task;
  };
  auto frame = compare(task_at(10, "1", 5), task_at(30, "1", 7), 2);
  REQUIRE(frame.tasks.size() == 1);
  CHECK(frame.tasks[0].steps_rate == 10);
  CHECK(frame.tasks[0].in_rate == 1000);
  REQUIRE(frame.links.size() == 1);
  CHECK(frame.links[0].peer == "client 5");
  REQUIRE(frame.queues.size() == 1);
  CHECK(frame.queues[0].name == "box/rows");
  CHECK(frame.queues[0].puts_rate == 10);
  auto restarted = compare(task_at(30, "1", 7), task_at(8, "2", 4), 2);
  CHECK(restarted.tasks[0].steps_rate == 2);
}

TEST_CASE("a task that could not be queried has a line with the reason") {
  inspection lost{"/job:ps/task:1", "task"};
  lost.add("error", std::string{"connection refused"});
  auto text = print(compare(lost, lost, 1), 5);
  CHECK(text.find("/job:ps/task:1  connection refused\n") != text.npos);
  auto stuck = stuck_cluster();
  auto report = print(compare(stuck, stuck, 1), 1);
  CHECK(report.find("/job:worker/task:0  /job:ps/task:0      1   12.5 s\nand 1 more\n") !=
        report.npos);
}

TEST_CASE("absent members have lines, and those that have left are the last") {
  auto member = [](const std::string& task, const std::string& state) {
    inspection inspected{"/member:" + task, "member"};
    inspected.add("task", task);
    inspected.add("presence", state);
    inspected.add("incarnation", std::string{"17"});
    inspected.add("address", "h:" + task);
    return inspected;
  };
  inspection cluster_root{"/", "cluster"};
  CHECK(print(compare(cluster_root, cluster_root, 1), 5).find("COORDINATOR") == std::string::npos);
  cluster_root.add("coordinator", std::string{"ps0"});
  cluster_root.add("change", int64_t{12});
  cluster_root.children = {member("a", "left"), member("b", "here"), member("c", "gone"),
                           member("d", "unreachable")};
  auto text = print(compare(cluster_root, cluster_root, 1), 2);
  CHECK(text.find("COORDINATOR  CHANGES  HERE  UNREACHABLE  LEFT  GONE\n"
                  "ps0               12     1            1     1     1\n"
                  "\n"
                  "MEMBER     PRESENCE  INCARNATION  ADDRESS\n"
                  "c              gone           17      h:c\n"
                  "d       unreachable           17      h:d\n"
                  "and 1 more\n") != text.npos);
}

TEST_CASE("a link to a silent peer is listed first, also without traffic") {
  auto link = [](const std::string& peer, double heard_seconds, int64_t bytes) {
    inspection inspected{"/job:ps/task:0/link:" + peer, "link"};
    inspected.add("peer", peer);
    inspected.add("last_heard_seconds", heard_seconds);
    inspected.add("bytes_received", bytes);
    return inspected;
  };
  inspection before{"/job:ps/task:0", "task"};
  before.add("incarnation", std::string{"1"});
  auto now = before;
  before.children = {link("busy", 0, 0), link("idle", 1, 0), link("silent", 3, 0)};
  now.children = {link("busy", 0, 100), link("idle", 3, 0), link("silent", 8.5, 0)};
  auto links = compare(before, now, 2).links;
  REQUIRE(links.size() == 2);
  CHECK(links[0].peer == "silent");
  CHECK(links[0].last_heard == 8.5);
  CHECK(links[1].peer == "busy");
  CHECK(print(compare(before, now, 2), 5).find("silent  8.5 s") != std::string::npos);
}

TEST_CASE("durations and sizes are readable") {
  CHECK(duration_text(0.0000021) == "2 us");
  CHECK(duration_text(0.0124) == "12.4 ms");
  CHECK(duration_text(3.14) == "3.1 s");
  CHECK(duration_text(7500) == "2 h 05 min");
  CHECK(bytes_text(999) == "999 B");
  CHECK(bytes_text(1'250'000) == "1.2 MB");
  CHECK(bytes_text(250e9) == "250 GB");
}

} // namespace troupe::test::wait_report_test
