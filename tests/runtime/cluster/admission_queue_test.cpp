#include "troupe/runtime/cluster/admission_queue.hpp"

#include "tests/support/catch.hpp"

#include <random>
#include <string>
#include <vector>

namespace troupe::test::admission_queue_test {

struct recorded_queue {
  explicit recorded_queue(size_t capacity) : queue(capacity) {}
  admission_queue queue;
  std::string admitted_clients; // clients, in the order in which their steps were admitted
  uint64_t steps = 0;
  uint64_t enter(uint64_t client) {
    queue.enter(client, ++steps,
                [=, this] { admitted_clients += static_cast<char>('a' + client); });
    return steps;
  }
};

TEST_CASE("the maximum number of steps run concurrently, and the other steps are admitted "
          "round-robin by client") {
  recorded_queue in{2};
  for (int i = 0; i < 5; ++i)
    in.enter(0);
  CHECK(in.admitted_clients == "aa");
  in.enter(1); // client 1 has no running step
  in.enter(1);
  in.enter(1);
  CHECK(in.admitted_clients == "aab");
  CHECK(in.queue.running() == 3);
  CHECK(in.queue.waiting() == 5);
  in.queue.leave(0); // there is still one step above the limit
  CHECK(in.admitted_clients == "aab");
  std::string runs = "ab";
  while (in.queue.running() > 0) {
    auto admitted_before = in.admitted_clients.size();
    auto client = runs.front();
    runs.erase(0, 1);
    in.queue.leave(static_cast<uint64_t>(client - 'a'));
    runs += in.admitted_clients.substr(admitted_before);
  }
  CHECK(in.admitted_clients == "aabababa"); // alternating
  CHECK(in.queue.waiting() == 0);
}

TEST_CASE("a client with a thousand steps does not delay another client's step") {
  recorded_queue in{4};
  for (int i = 0; i < 1000; ++i)
    in.enter(0);
  in.enter(1);
  CHECK(in.admitted_clients == "aaaab");
  in.enter(1);
  for (int i = 0; i < 3; ++i)
    in.queue.leave(0); // the first leave admits no step: five were running
  CHECK(in.admitted_clients.substr(5) == "ab");
}

TEST_CASE("a step that stopped waiting is not called, and does not take another step's place") {
  recorded_queue in{1};
  in.enter(0);
  auto waits = in.enter(0);
  in.enter(1);
  auto other_step = in.enter(1);
  CHECK(!in.queue.withdraw(2, 1));
  CHECK(!in.queue.withdraw(0, 1)); // the step runs
  CHECK(in.queue.withdraw(0, waits));
  CHECK(!in.queue.withdraw(0, waits));
  CHECK(in.queue.withdraw(1, other_step));
  in.queue.leave(0);
  in.queue.leave(1);
  CHECK(in.admitted_clients == "ab");
  CHECK(in.queue.running() == 0);
}

TEST_CASE("if no step leaves, one more may be admitted, round-robin") {
  recorded_queue in{2};
  in.queue.admit_one_more(); // no step waits
  CHECK(in.queue.enter(0, 1, [] {}));
  CHECK(in.queue.enter(0, 2, [] {}));
  CHECK(!in.queue.enter(0, 3, [&] { in.admitted_clients += 'a'; }));
  in.enter(1);
  in.enter(1);
  in.enter(0);
  CHECK(in.admitted_clients == "b");
  in.queue.admit_one_more();
  in.queue.admit_one_more();
  CHECK(in.admitted_clients == "bab");
  CHECK(in.queue.left() == 0);
  CHECK(in.queue.running() == 5);
  for (int i = 0; i < 3; ++i)
    in.queue.leave(0);
  CHECK(in.admitted_clients == "baba"); // its last step has left
  CHECK(in.queue.left() == 3);
}

TEST_CASE("each step is called once, and each waiting client has a running step") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  for (int round = 0; round < 200; ++round) {
    const size_t capacity = dice() % 4 + 1, clients = dice() % 5 + 1;
    admission_queue in{capacity};
    std::vector<int> running(clients), waiting(clients);
    size_t total = 0;
    for (uint64_t step = 0; step < 300; ++step) {
      auto client = dice() % clients;
      if (dice() % 5 < 3) {
        ++waiting[client];
        in.enter(client, step, [&, client] {
          --waiting[client];
          ++running[client];
          ++total;
        });
      } else if (running[client] > 0) {
        --running[client];
        in.leave(client);
      }
      size_t running_total = 0, line = 0;
      for (size_t i = 0; i < clients; ++i) {
        REQUIRE((waiting[i] == 0 || running[i] > 0));
        running_total += static_cast<size_t>(running[i]);
        line += static_cast<size_t>(waiting[i]);
      }
      REQUIRE(in.running() == running_total);
      REQUIRE(in.waiting() == line);
      REQUIRE(running_total < capacity + clients);
      REQUIRE((line == 0 || running_total >= capacity));
    }
    CHECK(total > 0);
  }
}

} // namespace troupe::test::admission_queue_test
