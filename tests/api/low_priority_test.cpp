#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace troupe::test::low_priority_test {
namespace {

// The processor time of this process's threads so far, in clock ticks.
struct thread_times {
  int64_t low = 0; // of threads with a lower priority than the calling thread's
  int64_t total = 0;
};

thread_times times_of_threads() {
  auto own_priority = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)));
  thread_times times;
  for (const auto& thread_entry : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::ifstream file{thread_entry.path() / "stat"};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    auto behind_name = text.rfind(')');
    // The thread has ended meanwhile.
    if (behind_name == std::string::npos)
      continue;
    std::istringstream fields_text{text.substr(behind_name + 2)};
    std::vector<std::string> fields{std::istream_iterator<std::string>{fields_text}, {}};
    auto ticks = std::stoll(fields.at(11)); // proc(5): utime, counted from the state
    times.total += ticks;
    if (std::stoi(fields.at(16)) > own_priority) // nice
      times.low += ticks;
  }
  return times;
}

} // namespace

TEST_CASE("heavy work of a low-priority step yields to that of other steps") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, -1}, "x");
  auto y = x;
  for (int i = 0; i < 4; ++i)
    y = matmul(y, x);
  auto s = session::local({.threads = {.intra_op = 1, .inter_op = 2}});
  auto fed = tensor::from_values({700, 700}, std::vector<float>(700 * 700, 1e-3f));

  auto normal_step = s.prepare({x}, {y}), low = s.prepare({x}, {y}, {}, {.low_priority = true});
  auto share_of_low = [&](step& tested_step) {
    auto expected = tested_step.run({fed})[0]; // the threads run from now on
    auto before = times_of_threads();
    std::vector<tensor> results;
    for (int i = 0; i < 4; ++i)
      results.push_back(tested_step.run({fed})[0]);
    auto after = times_of_threads();
    for (const auto& result : results)
      CHECK(std::ranges::equal(result.values<float>(), expected.values<float>()));
    auto total_ticks = after.total - before.total;
    REQUIRE(total_ticks > 0);
    return static_cast<double>(after.low - before.low) / static_cast<double>(total_ticks);
  };
  CHECK(share_of_low(normal_step) == 0);
  CHECK(share_of_low(low) > 0.7);
}

TEST_CASE("steps of low priority fail if their session ends, and no run waits for them") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, -1}, "x");
  auto y = x;
  for (int i = 0; i < 30; ++i)
    y = matmul(y, x);
  auto fed = tensor::from_values({900, 900}, std::vector<float>(900 * 900, 1e-3f));
  std::vector<std::future<std::vector<tensor>>> under_way;
  {
    auto s = session::local({.threads = {.intra_op = 1, .inter_op = 2}});
    auto low_step = s.prepare({x}, {y}, {}, {.low_priority = true});
    for (int i = 0; i < 4; ++i)
      under_way.push_back(low_step.run_async({fed}));
  }
  for (auto& pending : under_way) {
    REQUIRE(pending.wait_for(std::chrono::seconds{30}) == std::future_status::ready);
    CHECK_THROWS_AS(pending.get(), error);
  }
}

} // namespace troupe::test::low_priority_test
