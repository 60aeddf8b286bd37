// Random histories of nodes and guests that find each other: processes end, freeze, and are cut
// off; messages are lost, repeated and late; clocks step.
#include "troupe/runtime/cluster/node_directory.hpp"

#include "tests/runtime/cluster/directory_network.hpp"
#include "tests/support/catch.hpp"

namespace troupe::test::node_directory_random_test {

using namespace std::chrono_literals;

namespace {

struct history_options {
  bool kills = true, freezes = false, cuts = false, silent_ends = false, named_tasks = false;
  network_faults faults = {};
};

// Nodes at "n:0" and "n:1" are named by all texts; other nodes and guests come and go.
class random_history {
public:
  random_history(uint32_t seed, history_options chosen)
      : network(seed, chosen.faults), options_(chosen) {
    start_node("n:0");
  }

  void step() {
    switch (network.wire.roll(12)) {
      case 0: start_node(concat("n:", network.wire.roll(5))); break;
      case 1: start_guest(); break;
      case 2:
        if (options_.kills && network.wire.roll(3) == 0)
          end_process();
        break;
      case 3:
        if (options_.freezes && network.wire.roll(3) == 0)
          any_process().frozen_until = network.now + milliseconds(12'000);
        break;
      case 4:
        if (options_.cuts && network.processes.size() > 1)
          cut();
        break;
      default: pass(milliseconds(1'000)); break;
    }
  }
  void pass(std::chrono::milliseconds time) {
    for (auto end = network.now + time; network.now < end;) {
      network.run(100ms);
      if (longest_memory > 0ms)
        check_ended();
    }
  }

  // A phase without faults, with all nodes that the texts name.
  void settle(std::chrono::milliseconds time) {
    network.heal();
    start_node("n:0");
    start_node("n:1");
    network.run(time);
  }

  // All views are the same: they have the tasks of the processes that run, and no others.
  void check_views() {
    std::map<task_name, directory_entry> expected;
    for (const auto& process : network.processes)
      for (const auto& [claim, grant] : process->granted) {
        auto [entry, is_new] = expected.emplace(
            grant.task, directory_entry{address_of(claim), grant.incarnation, process->id});
        INFO(grant.task << " is at " << entry->second.process << " and " << process->id);
        CHECK(is_new);
      }
    for (const auto& process : network.processes) {
      INFO(process->id << " at " << process->address << ": " << process->directory->problem());
      CHECK(process->directory->view() == expected);
      CHECK(process->directory->problem().ok() == (network.processes.size() > 1));
    }
    task_count += expected.size();
  }

  // No process that has run all the time shows one that has ended long ago.
  void check_ended() {
    for (const auto& process : network.processes)
      for (const auto& [task, entry] : process->directory->view()) {
        auto ended = network.died.find(entry.process);
        if (ended == network.died.end() || process->frozen_until)
          continue;
        INFO(process->id << " shows " << entry.process);
        CHECK(network.now - std::max(ended->second, process->running_since) <= longest_memory);
      }
  }

  directory_network network;
  std::chrono::milliseconds longest_memory{0}; // of ended processes; 0: not checked
  size_t task_count = 0, started = 0;

private:
  std::chrono::milliseconds milliseconds(size_t below) {
    return std::chrono::milliseconds{1 + network.wire.roll(below)};
  }
  std::string address_of(uint64_t claim) const { return concat("h:", claim); }
  directory_process& any_process() {
    return *network.processes[network.wire.roll(network.processes.size())];
  }
  directory_options options_of(directory_role role) {
    directory_options options;
    options.role = role;
    options.named = {"n:0", "n:1"};
    return options;
  }

  void start_node(const std::string& address) {
    for (const auto& process : network.processes)
      if (process->address == address)
        return;
    claim(network.start(options_of(directory_role::node), address));
  }
  void start_guest() {
    if (network.processes.size() < 9)
      claim(network.start(options_of(directory_role::guest), ""));
  }
  // The clocks of processes differ, and step.
  void claim(directory_process& by) {
    ++started;
    number_claim request{"worker", -1, 1'000'000 + started * 10 - network.wire.roll(100'000),
                         address_of(++last_claim_)};
    if (options_.named_tasks && network.wire.roll(2) == 0) {
      request.job = "ps";
      request.task = static_cast<int32_t>(network.wire.roll(3));
    }
    network.claim(by, request);
  }
  void end_process() {
    auto& ending = any_process();
    auto kind = network.wire.roll(options_.silent_ends ? 3 : 2);
    if (kind == 0)
      network.leave(ending);
    else
      network.kill(ending, kind == 2);
    if (network.processes.empty())
      start_node("n:0");
  }
  void cut() {
    auto &one_end = any_process(), &other_end = any_process();
    auto ends = std::pair{std::minmax(one_end.id, other_end.id)};
    if (&one_end != &other_end && !network.wire.cut.erase(ends))
      network.wire.cut.insert(ends);
  }

  history_options options_;
  uint64_t last_claim_ = 0;
};

} // namespace

TEST_CASE("processes that end and start leave equal views, and no number is granted twice") {
  size_t tasks = 0, replaced = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    random_history history{seed, {}};
    history.longest_memory = 14s; // 10 s after it was noticed
    for (int i = 0; i < 100; ++i)
      history.step();
    history.settle(15s);
    history.check_views();
    tasks += history.task_count;
    replaced += history.network.replaced_count;
  }
  CHECK(tasks > 1000);
  CHECK(replaced == 0);
}

TEST_CASE("after faults of any kind, all views are the same") {
  size_t tasks = 0, replaced = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    random_history history{seed,
                           {.freezes = true,
                            .cuts = true,
                            .silent_ends = true,
                            .named_tasks = true,
                            .faults = {.lost = 30, .repeated = 20, .late = 20}}};
    // Each of three links that end one after another is silent for 3 s; and messages are lost.
    history.longest_memory = 24s;
    for (int i = 0; i < 150; ++i)
      history.step();
    history.settle(40s);
    history.check_views();
    tasks += history.task_count;
    replaced += history.network.replaced_count;
  }
  CHECK(tasks > 1000);
  CHECK(replaced > 100);
}

} // namespace troupe::test::node_directory_random_test
