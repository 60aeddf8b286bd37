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

// What the threads of this process have computed for so far, in ticks of the system.
struct thread_times {
  int64_t low = 0; // of a lower priority than the one that asks
  int64_t all = 0;
};

thread_times times_of_threads() {
  auto me = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)));
  thread_times found;
  for (const auto& each : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::ifstream file{each.path() / "stat"};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    auto behind_name = text.rfind(')');
    if (behind_name == std::string::npos)
      continue; // it has ended meanwhile
    std::istringstream rest{text.substr(behind_name + 2)};
    std::vector<std::string> fields{std::istream_iterator<std::string>{rest}, {}};
    auto ticks = std::stoll(fields.at(11)); // proc(5): utime, counted from the state
    found.all += ticks;
    if (std::stoi(fields.at(16)) > me) // nice
      found.low += ticks;
  }
  return found;
}

} // namespace

TEST_CASE("heavy work of a step of low priority gives way to that of other steps") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, -1}, "x");
  auto y = x;
  for (int i = 0; i < 4; ++i)
    y = matmul(y, x);
  auto s = session::local({.threads = {.intra_op = 1, .inter_op = 2}});
  auto fed = tensor::of({700, 700}, std::vector<float>(700 * 700, 1e-3f));

  auto usual = s.prepare({x}, {y}), low = s.prepare({x}, {y}, {}, {.low_priority = true});
  auto share_of_low = [&](step& what) {
    auto expected = what.run({fed})[0]; // threads are there from now on
    auto before = times_of_threads();
    std::vector<tensor> results;
    for (int i = 0; i < 4; ++i)
      results.push_back(what.run({fed})[0]);
    auto after = times_of_threads();
    for (const auto& result : results)
      CHECK(std::ranges::equal(result.values<float>(), expected.values<float>()));
    auto all = after.all - before.all;
    REQUIRE(all > 0);
    return static_cast<double>(after.low - before.low) / static_cast<double>(all);
  };
  CHECK(share_of_low(usual) == 0);
  CHECK(share_of_low(low) > 0.7);
}

TEST_CASE("steps of low priority whose session ends meanwhile fail, and nothing waits for them") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, -1}, "x");
  auto y = x;
  for (int i = 0; i < 30; ++i)
    y = matmul(y, x);
  auto fed = tensor::of({900, 900}, std::vector<float>(900 * 900, 1e-3f));
  std::vector<std::future<std::vector<tensor>>> under_way;
  {
    auto s = session::local({.threads = {.intra_op = 1, .inter_op = 2}});
    auto low = s.prepare({x}, {y}, {}, {.low_priority = true});
    for (int i = 0; i < 4; ++i)
      under_way.push_back(low.run_async({fed}));
  }
  for (auto& one : under_way) {
    REQUIRE(one.wait_for(std::chrono::seconds{30}) == std::future_status::ready);
    CHECK_THROWS_AS(one.get(), error);
  }
}

} // namespace troupe::test::low_priority_test
