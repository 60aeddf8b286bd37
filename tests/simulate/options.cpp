#include "tests/simulate/options.hpp"

#include "tests/simulate/dice.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::simulate {
namespace {

constexpr option_entry entries[] = {
    {"clients", &options::clients, 1, "processes with a session"},
    {"workers", &options::workers, 1, "tasks of the job worker"},
    {"servers", &options::servers, 1, "tasks of the job ps"},
    {"lanes", &options::lanes, 1, "steps of one client at once"},
    {"fault_seconds", &options::fault_seconds, 5, "length of the phase with faults"},
    {"think_ms", &options::think_ms, 200, "longest pause between two steps"},
    {"peer_timeout_ms", &options::peer_timeout_ms, 10000, "of silence"},
    {"latency_us", &options::latency_us, 0, "longest way of a read"},
    {"queues", &options::queues, 0, "permille of steps that put or take"},
    {"shuffle", &options::shuffle, 0, "actors run in any order"},
    {"torn", &options::torn, 0, "reads of a few bytes"},
    {"slow_readers", &options::slow_readers, 0, "permille of reads up to 50 ms late"},
    {"late", &options::late, 0, "permille of messages that take up to 3 ms"},
    {"short_deadlines", &options::short_deadlines, 0, "permille of steps"},
    {"losses", &options::losses, 0, "lost connections in a minute"},
    {"partitions", &options::partitions, 0, "partitions in a minute"},
    {"one_way", &options::one_way, 0, "permille of partitions"},
    {"pauses", &options::pauses, 0, "paused processes in a minute"},
    {"crashes", &options::crashes, 0, "crashed tasks in a minute"},
    {"machines", &options::machines, 0, "permille of crashes, nothing tells the peers"},
    {"splits", &options::splits, 0, "tasks replaced that live on, in a minute"},
    {"shortages", &options::shortages, 0, "shortages of memory in a minute"},
    {"reopens", &options::reopens, 0, "sessions closed in a minute"},
    {"resets", &options::resets, 0, "permille of steps, a container's reset instead"},
    {"listings", &options::listings, 0, "permille of steps, a question for devices instead"},
    {"max_concurrent", &options::max_concurrent, 0, "steps of one kind in a session"},
    {"buggify", &options::buggify, 0, "rare events in the product's code"},
    {"huge", &options::huge, 0, "permille of steps that train, tensors of megabytes"},
    {"reductions", &options::reductions, 0, "all tasks reduce a tensor in some steps"},
    {"recovers", &options::recovers, 0, "sessions restore what tasks have lost"},
    {"joined", &options::joined, 0, "addresses known of a cluster that tasks join; 0: all"},
    {"programs", &options::programs, 0, "permille of steps, a random program's instead"},
    {"replicas", &options::replicas, 0, "of a model that the first client trains"},
    {"stops", &options::stops, 0, "permille of steps that their caller stops soon"},
    {"moves", &options::moves, 0, "permille of starts of tasks that join, at another address"},
};

} // namespace

std::span<const option_entry> all_options() { return entries; }

options options::draw(uint64_t seed) {
  dice chance{seed, "options"};
  options made;
  made.seed = seed;
  made.clients = chance.between(1, 3);
  made.workers = chance.between(1, 4);
  made.servers = chance.between(1, 4);
  made.lanes = chance.between(1, 3);
  made.fault_seconds = chance.between(10, 60);
  made.think_ms = chance.between(20, 1000);
  constexpr int64_t timeouts[] = {1500, 3000, 10000};
  made.peer_timeout_ms = timeouts[chance.below(3)];
  constexpr int64_t ways[] = {0, 100, 1000, 20000};
  made.latency_us = ways[chance.below(4)];
  made.shuffle = chance.permille(800);
  made.torn = chance.permille(250);
  // Each kind of trouble is there in some seeds only: what hides behind another shows.
  auto sometimes = [&](int64_t most) { return chance.permille(450) ? chance.between(1, most) : 0; };
  made.slow_readers = sometimes(100);
  made.late = sometimes(100);
  made.short_deadlines = sometimes(300);
  made.losses = sometimes(20);
  made.partitions = sometimes(10);
  made.one_way = chance.between(0, 1000);
  made.pauses = sometimes(10);
  made.crashes = sometimes(10);
  made.machines = chance.between(0, 1000);
  made.shortages = sometimes(20);
  made.reopens = sometimes(10);
  made.resets = sometimes(60);
  made.buggify = chance.permille(500);
  made.queues = chance.permille(300) ? 800 : 0;
  made.listings = sometimes(30);
  made.max_concurrent = chance.permille(300) ? chance.between(1, 2) : 0;
  made.huge = chance.permille(200) ? chance.between(1, 500) : 0;
  made.splits = chance.permille(300) ? chance.between(1, 8) : 0;
  made.reductions = chance.permille(400);
  made.recovers = chance.permille(300);
  made.joined = chance.permille(300) ? chance.between(1, 3) : 0;
  made.moves = made.joined && chance.permille(500) ? chance.between(1, 600) : 0;
  made.programs = chance.permille(250) ? chance.between(20, 300) : 0;
  made.replicas = chance.permille(250) ? chance.between(2, 5) : 0;
  made.stops = sometimes(200);
  return made;
}

void options::calm() {
  for (auto each : {&options::torn, &options::slow_readers, &options::late, &options::losses,
                    &options::partitions, &options::pauses, &options::crashes, &options::splits,
                    &options::shortages, &options::reopens, &options::resets, &options::moves,
                    &options::buggify, &options::short_deadlines})
    this->*each = 0;
}

status options::set(std::string_view assignment) {
  auto split = assignment.find('=');
  auto name = assignment.substr(0, split);
  auto found =
      std::ranges::find(entries, name, [](auto& one) { return std::string_view{one.name}; });
  if (split == assignment.npos || found == std::end(entries))
    return invalid("'", assignment, "' sets no option; see --help");
  auto text = assignment.substr(split + 1);
  auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), this->*found->value);
  if (problem != std::errc{} || end != text.data() + text.size())
    return invalid("'", text, "' is no number");
  return {};
}

std::string to_string(const options& what) {
  auto text = concat("seed=", what.seed);
  for (const auto& one : entries)
    text += concat(' ', one.name, '=', what.*one.value);
  for (const auto& one : what.script)
    text += concat(" event='", one.text, "'");
  return text;
}

} // namespace troupe::simulate
