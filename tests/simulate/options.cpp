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
    {"lanes", &options::lanes, 1, "concurrent steps of a client"},
    {"fault_seconds", &options::fault_seconds, 5, "length of the phase with faults"},
    {"think_ms", &options::think_ms, 200, "maximum pause between two steps"},
    {"peer_timeout_ms", &options::peer_timeout_ms, 10000,
     "the silence after which a peer counts as lost"},
    {"latency_us", &options::latency_us, 0, "maximum latency of one direction"},
    {"queues", &options::queues, 0, "permille of steps that put or take"},
    {"shuffle", &options::shuffle, 0, "actors run in any order"},
    {"torn", &options::torn, 0, "reads of a few bytes"},
    {"slow_readers", &options::slow_readers, 0, "permille of reads up to 50 ms late"},
    {"late", &options::late, 0, "permille of messages that take up to 3 ms"},
    {"short_deadlines", &options::short_deadlines, 0, "permille of steps with a short deadline"},
    {"losses", &options::losses, 0, "lost connections in a minute"},
    {"partitions", &options::partitions, 0, "partitions in a minute"},
    {"one_way", &options::one_way, 0, "permille of partitions that stop one direction only"},
    {"pauses", &options::pauses, 0, "paused processes in a minute"},
    {"crashes", &options::crashes, 0, "crashed tasks in a minute"},
    {"machines", &options::machines, 0, "permille of crashes without notice to peers"},
    {"splits", &options::splits, 0, "replaced tasks that keep running, in a minute"},
    {"shortages", &options::shortages, 0, "shortages of memory in a minute"},
    {"reopens", &options::reopens, 0, "sessions closed in a minute"},
    {"resets", &options::resets, 0, "permille of steps that a container's reset replaces"},
    {"listings", &options::listings, 0, "permille of steps that a listing of devices replaces"},
    {"max_concurrent", &options::max_concurrent, 0,
     "maximum concurrent steps of one kind in a session; 0: any"},
    {"buggify", &options::buggify, 0, "rare events in the product's code"},
    {"huge", &options::huge, 0, "permille of training steps with tensors of megabytes"},
    {"reductions", &options::reductions, 0, "all tasks reduce a tensor in some steps"},
    {"recovers", &options::recovers, 0, "sessions restore what tasks have lost"},
    {"joined", &options::joined, 0,
     "seed addresses of a cluster that tasks join; 0: all are known"},
    {"programs", &options::programs, 0, "permille of steps that a random program replaces"},
    {"replicas", &options::replicas, 0, "replicas of a model that the first client trains"},
    {"stops", &options::stops, 0, "permille of steps that their caller stops"},
    {"moves", &options::moves, 0, "permille of starts of joining tasks at another address"},
};

} // namespace

std::span<const option_entry> all_options() { return entries; }

options options::draw(uint64_t seed) {
  dice chance{seed, "options"};
  options drawn_options;
  drawn_options.seed = seed;
  drawn_options.clients = chance.between(1, 3);
  drawn_options.workers = chance.between(1, 4);
  drawn_options.servers = chance.between(1, 4);
  drawn_options.lanes = chance.between(1, 3);
  drawn_options.fault_seconds = chance.between(10, 60);
  drawn_options.think_ms = chance.between(20, 1000);
  constexpr int64_t timeouts[] = {1500, 3000, 10000};
  drawn_options.peer_timeout_ms = timeouts[chance.below(3)];
  constexpr int64_t ways[] = {0, 100, 1000, 20000};
  drawn_options.latency_us = ways[chance.below(4)];
  drawn_options.shuffle = chance.permille(800);
  drawn_options.torn = chance.permille(250);
  // Each kind of fault occurs in some seeds only, so that one kind cannot hide the effects of
  // another.
  auto sometimes = [&](int64_t highest) {
    return chance.permille(450) ? chance.between(1, highest) : 0;
  };
  drawn_options.slow_readers = sometimes(100);
  drawn_options.late = sometimes(100);
  drawn_options.short_deadlines = sometimes(300);
  drawn_options.losses = sometimes(20);
  drawn_options.partitions = sometimes(10);
  drawn_options.one_way = chance.between(0, 1000);
  drawn_options.pauses = sometimes(10);
  drawn_options.crashes = sometimes(10);
  drawn_options.machines = chance.between(0, 1000);
  drawn_options.shortages = sometimes(20);
  drawn_options.reopens = sometimes(10);
  drawn_options.resets = sometimes(60);
  drawn_options.buggify = chance.permille(500);
  drawn_options.queues = chance.permille(300) ? 800 : 0;
  drawn_options.listings = sometimes(30);
  drawn_options.max_concurrent = chance.permille(300) ? chance.between(1, 2) : 0;
  drawn_options.huge = chance.permille(200) ? chance.between(1, 500) : 0;
  drawn_options.splits = chance.permille(300) ? chance.between(1, 8) : 0;
  drawn_options.reductions = chance.permille(400);
  drawn_options.recovers = chance.permille(300);
  drawn_options.joined = chance.permille(300) ? chance.between(1, 3) : 0;
  drawn_options.moves = drawn_options.joined && chance.permille(500) ? chance.between(1, 600) : 0;
  drawn_options.programs = chance.permille(250) ? chance.between(20, 300) : 0;
  drawn_options.replicas = chance.permille(250) ? chance.between(2, 5) : 0;
  drawn_options.stops = sometimes(200);
  return drawn_options;
}

void options::calm() {
  for (auto member : {&options::torn, &options::slow_readers, &options::late, &options::losses,
                      &options::partitions, &options::pauses, &options::crashes, &options::splits,
                      &options::shortages, &options::reopens, &options::resets, &options::moves,
                      &options::buggify, &options::short_deadlines})
    this->*member = 0;
}

status options::set(std::string_view assignment) {
  auto split = assignment.find('=');
  auto name = assignment.substr(0, split);
  auto entry_found =
      std::ranges::find(entries, name, [](auto& entry) { return std::string_view{entry.name}; });
  if (split == assignment.npos || entry_found == std::end(entries))
    return invalid("'", assignment,
                   "' is not an option and its value, such as losses=0; see --help");
  auto text = assignment.substr(split + 1);
  auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), this->*entry_found->value);
  if (problem != std::errc{} || end != text.data() + text.size())
    return invalid("'", text, "' is not a number");
  return {};
}

std::string to_string(const options& chosen) {
  auto text = concat("seed=", chosen.seed);
  for (const auto& entry : entries)
    text += concat(' ', entry.name, '=', chosen.*entry.value);
  for (const auto& event : chosen.script)
    text += concat(" event='", event.text, "'");
  return text;
}

} // namespace troupe::simulate
