#include "troupe/runtime/cluster/turns.hpp"

#include "tests/support/catch.hpp"

#include <random>
#include <string>
#include <vector>

namespace troupe::test::turns_test {

struct hall {
  explicit hall(size_t most) : let_in(most) {}
  turns let_in;
  std::string came; // clients, in the order in which their steps were let in
  uint64_t steps = 0;
  uint64_t enter(uint64_t who) {
    let_in.enter(who, ++steps, [=, this] { came += static_cast<char>('a' + who); });
    return steps;
  }
};

TEST_CASE("as many as may run at once do, and the others take turns by client") {
  hall in{2};
  for (int i = 0; i < 5; ++i)
    in.enter(0);
  CHECK(in.came == "aa");
  in.enter(1); // none of its own runs
  in.enter(1);
  in.enter(1);
  CHECK(in.came == "aab");
  CHECK(in.let_in.running() == 3);
  CHECK(in.let_in.waiting() == 5);
  in.let_in.leave(0); // there is still one more than may be
  CHECK(in.came == "aab");
  std::string runs = "ab";
  while (in.let_in.running() > 0) {
    auto before = in.came.size();
    auto who = runs.front();
    runs.erase(0, 1);
    in.let_in.leave(static_cast<uint64_t>(who - 'a'));
    runs += in.came.substr(before);
  }
  CHECK(in.came == "aabababa"); // in turn
  CHECK(in.let_in.waiting() == 0);
}

TEST_CASE("a client with a thousand steps does not keep back another's one") {
  hall in{4};
  for (int i = 0; i < 1000; ++i)
    in.enter(0);
  in.enter(1);
  CHECK(in.came == "aaaab");
  in.enter(1);
  for (int i = 0; i < 3; ++i)
    in.let_in.leave(0); // the first makes room for nobody: five were in
  CHECK(in.came.substr(5) == "ab");
}

TEST_CASE("a step that waits no more is not called, and is no other's turn") {
  hall in{1};
  in.enter(0);
  auto waits = in.enter(0);
  in.enter(1);
  auto other = in.enter(1);
  CHECK(!in.let_in.withdraw(2, 1));
  CHECK(!in.let_in.withdraw(0, 1)); // it runs
  CHECK(in.let_in.withdraw(0, waits));
  CHECK(!in.let_in.withdraw(0, waits));
  CHECK(in.let_in.withdraw(1, other));
  in.let_in.leave(0);
  in.let_in.leave(1);
  CHECK(in.came == "ab");
  CHECK(in.let_in.running() == 0);
}

TEST_CASE("where nobody leaves, one more may be let in, in turn") {
  hall in{2};
  in.let_in.let_one_more(); // there is none
  CHECK(in.let_in.enter(0, 1, [] {}));
  CHECK(in.let_in.enter(0, 2, [] {}));
  CHECK(!in.let_in.enter(0, 3, [&] { in.came += 'a'; }));
  in.enter(1);
  in.enter(1);
  in.enter(0);
  CHECK(in.came == "b");
  in.let_in.let_one_more();
  in.let_in.let_one_more();
  CHECK(in.came == "bab");
  CHECK(in.let_in.left() == 0);
  CHECK(in.let_in.running() == 5);
  for (int i = 0; i < 3; ++i)
    in.let_in.leave(0);
  CHECK(in.came == "baba"); // the last of its own has left
  CHECK(in.let_in.left() == 3);
}

TEST_CASE("whatever comes and goes, all are called once, and a client that waits has one running") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  for (int round = 0; round < 200; ++round) {
    const size_t most = dice() % 4 + 1, clients = dice() % 5 + 1;
    turns in{most};
    std::vector<int> running(clients), waiting(clients);
    size_t total = 0;
    for (uint64_t step = 0; step < 300; ++step) {
      auto who = dice() % clients;
      if (dice() % 5 < 3) {
        ++waiting[who];
        in.enter(who, step, [&, who] {
          --waiting[who];
          ++running[who];
          ++total;
        });
      } else if (running[who] > 0) {
        --running[who];
        in.leave(who);
      }
      size_t all = 0, line = 0;
      for (size_t i = 0; i < clients; ++i) {
        REQUIRE((waiting[i] == 0 || running[i] > 0));
        all += static_cast<size_t>(running[i]);
        line += static_cast<size_t>(waiting[i]);
      }
      REQUIRE(in.running() == all);
      REQUIRE(in.waiting() == line);
      REQUIRE(all < most + clients);
      REQUIRE((line == 0 || all >= most));
    }
    CHECK(total > 0);
  }
}

} // namespace troupe::test::turns_test
