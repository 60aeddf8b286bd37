#include "troupe/runtime/insight/link_times.hpp"

#include "tests/support/catch.hpp"
#include "troupe/runtime/placement/link_costs.hpp"

#include <algorithm>
namespace troupe::test::link_times_test {
namespace {

// One tensor from ps to worker, and one to another device of the same task.
step_statistics step(int64_t sent, int64_t received, uint64_t bytes) {
  auto statistics_of = [](std::vector<span_subject> subjects) {
    return std::make_shared<const std::vector<span_subject>>(std::move(subjects));
  };
  const std::string ps = "/job:ps/task:0", worker = "/job:worker/task:0";
  step_statistics statistics;
  statistics.tasks.push_back(
      {.task = ps,
       .subjects = statistics_of({{.kind = span_kind::send, .peer = worker, .key = 7},
                                  {.kind = span_kind::send, .peer = ps, .key = 8},
                                  {.kind = span_kind::wait, .peer = ps, .key = 8}}),
       .spans = {{.subject = 0, .begin_ns = sent, .end_ns = sent + 10},
                 {.subject = 1, .begin_ns = sent, .end_ns = sent + 10},
                 {.subject = 2, .begin_ns = 0, .end_ns = 5}}});
  statistics.tasks.push_back(
      {.task = worker,
       .subjects = statistics_of({{.kind = span_kind::wait, .peer = ps, .key = 7},
                                  {.kind = span_kind::wait, .op = "Dequeue", .key = 8}}),
       .spans = {{.subject = 0, .begin_ns = 0, .end_ns = received, .bytes = bytes},
                 {.subject = 1, .begin_ns = 0, .end_ns = 1, .bytes = 4}}});
  return statistics;
}

} // namespace

TEST_CASE("links are measured by their transfers: latency by small tensors, rate by large ones") {
  link_times times;
  CHECK(times.empty());
  times.add(step(1000, 21'000, 4));
  times.add(step(1000, 41'000, 4));
  times.add(step(1000, 1'031'000, 1'000'000));
  auto links = times.list();
  REQUIRE(links.size() == 1);
  CHECK(links[0].from == "/job:ps/task:0");
  CHECK(links[0].to == "/job:worker/task:0");
  CHECK(links[0].small_count == 2);
  CHECK(links[0].large_count == 1);
  CHECK(links[0].latency_ns == Approx(30'000));
  CHECK(links[0].ns_per_byte == Approx(1.0));
}

TEST_CASE("links beyond the limit are ignored, and the others are still measured") {
  constexpr size_t too_many = link_times::max_links + 10;
  step_statistics wide;
  std::vector<span_subject> sends;
  std::vector<step_span> sent;
  const std::string ps = "/job:ps/task:0";
  for (uint32_t i = 0; i < too_many; ++i) {
    auto worker = concat("/job:worker/task:", i);
    sends.push_back({.kind = span_kind::send, .peer = worker, .key = i});
    sent.push_back({.subject = i, .begin_ns = 10, .end_ns = 20});
    wide.tasks.push_back({.task = worker,
                          .subjects = std::make_shared<const std::vector<span_subject>>(
                              1, span_subject{.kind = span_kind::wait, .peer = ps, .key = i}),
                          .spans = {{.begin_ns = 0, .end_ns = 30, .bytes = 4}}});
  }
  wide.tasks.push_back(
      {.task = ps,
       .subjects = std::make_shared<const std::vector<span_subject>>(std::move(sends)),
       .spans = std::move(sent)});
  link_times times;
  for (int i = 0; i < 2; ++i)
    times.add(wide);
  auto links = times.list();
  CHECK(links.size() == link_times::max_links);
  CHECK(std::ranges::all_of(links, [](const link_time& link) { return link.small_count == 2; }));
}

TEST_CASE("skewed clocks make no time negative, and duplicate transfers are ignored") {
  link_times times;
  times.add(step(1000, 500, 4));
  REQUIRE(times.list().size() == 1);
  CHECK(times.list()[0].latency_ns == 0);
  link_times loops;
  auto twice = step(1000, 2000, 4);
  twice.tasks[1].spans.push_back(twice.tasks[1].spans[0]);
  loops.add(twice);
  CHECK(loops.list().empty());
}

TEST_CASE("costs of links are measured where possible, otherwise defaults") {
  auto costs = link_costs::from(
      {{.from = "/job:ps/task:0", .to = "/job:worker/task:0", .small_count = 3, .latency_ns = 5},
       {.from = "nonsense", .to = "/job:worker/task:0"}});
  REQUIRE(costs.known().size() == 1);
  const auto& cost = costs.known().begin()->second;
  CHECK(cost.latency_ns == 5);
  CHECK(cost.ns_per_byte == default_link.ns_per_byte);
  CHECK(costs.default_cost().transfer_ns(1000) ==
        Approx(default_link.latency_ns + 1000 * default_link.ns_per_byte));
}

} // namespace troupe::test::link_times_test
