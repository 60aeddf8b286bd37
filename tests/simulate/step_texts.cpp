#include "tests/simulate/step_texts.hpp"

#include "tests/simulate/dice.hpp"

namespace troupe::simulate {
namespace {

const char* declaration_of(holder_kind kind) {
  switch (kind) {
    case holder_kind::fifo: return "FIFOQueue component_types=[i64] shapes=[[]] capacity=100000";
    case holder_kind::padding: return "PaddingFIFOQueue component_types=[i64] shapes=[[-1]]";
    case holder_kind::barrier: return "Barrier component_types=[i64, i64] shapes=[[], []]";
    case holder_kind::shuffle:
      return "RandomShuffleQueue component_types=[i64] shapes=[[]] min_after_dequeue=1";
    case holder_kind::priority: return "PriorityQueue component_types=[i64] shapes=[[]]";
    default: return nullptr; // the ops that use it create it
  }
}

// An element is the number of the run that put it.
std::string put_text(holder_kind kind, const std::string& ps) {
  const std::string shared = " container=\"queues\" shared_name=\"q\"", at = concat(" @", ps, '\n');
  auto text = concat("t = Tally(id, id) slot=0 event=4", at);
  if (auto* declaration = declaration_of(kind))
    text += concat("q = ", declaration, shared, at);
  switch (kind) {
    case holder_kind::fifo:
    case holder_kind::shuffle: return text + "put = QueueEnqueue(q, t)" + at;
    case holder_kind::padding:
      return text + "one = Reshape(t, i32[1])" + at + "put = QueueEnqueue(q, one)" + at;
    case holder_kind::priority:
      return text + "less = Neg(t)" + at + "put = QueueEnqueue(q, less, t)" + at;
    case holder_kind::stage: return text + "put = Stage(t)" + shared + at;
    case holder_kind::map_stage:
      return text + "put = MapStage(t, i32[0], t) dtypes=[i64]" + shared + at;
    case holder_kind::barrier:
      return text + "name = AsString(t)" + at + "key = Reshape(name, i32[1])" + at +
             "one = Reshape(t, i32[1])" + at + "first = BarrierInsertMany(q, key, one) " +
             "component_index=0" + at + "put = BarrierInsertMany(q, key, one, ^first) " +
             "component_index=1" + at;
  }
  return {};
}

std::string take_text(holder_kind kind, const std::string& ps) {
  const std::string shared = " container=\"queues\" shared_name=\"q\"", at = concat(" @", ps, '\n');
  std::string text, got = "got";
  if (auto* declaration = declaration_of(kind))
    text = concat("q = ", declaration, shared, at);
  switch (kind) {
    case holder_kind::fifo:
    case holder_kind::shuffle: text += "got = QueueDequeue(q) component_types=[i64]" + at; break;
    case holder_kind::padding:
      text += "got = QueueDequeueMany(q, i32(1)) component_types=[i64]" + at;
      break;
    case holder_kind::priority:
      text += "got = QueueDequeue(q) component_types=[i64, i64]" + at;
      got = "got:1";
      break;
    case holder_kind::stage: text += "got = Unstage dtypes=[i64]" + shared + at; break;
    case holder_kind::map_stage:
      text += "got = MapUnstageNoKey(i32[0]) dtypes=[i64]" + shared + at;
      got = "got:1";
      break;
    case holder_kind::barrier: // both components, otherwise it is not a complete element
      text += "got = BarrierTakeMany(q, i32(1)) component_types=[i64, i64]" + at +
              "wrong = Sub(got:2, got:3)" + at + "both = Add(got:2, wrong)" + at;
      got = "both";
      break;
  }
  return concat(text, "t = Tally(id, ", got, ") slot=0 event=3", at);
}

// Nodes without a device may run on any worker that is present.
bool is_open(run_kind kind, int client) { return kind == run_kind::update && client == 2; }

std::string ps_task(int i) { return concat("\"/job:ps/task:", i, '"'); }
std::string worker_task(int i) { return concat("\"/job:worker/task:", i, '"'); }

std::string id_at(const std::string& where) {
  return concat("id = Placeholder dtype=i64 shape=[] @", where, '\n');
}

std::string variable(const std::string& name, const std::string& where) {
  return concat(name, " = VariableV2 dtype=i64 shape=[] shared_name=\"v\" @", where, '\n');
}

// The choices from which the text of a step is made.
struct text_choices {
  const layout& processes;
  server_kinds server_kind;
  int client, worker, server;
  int64_t factor;
  int elements;

  std::string ps() const { return ps_task(server); }
  std::string w() const { return worker_task(worker); }
  bool is_looped() const { return client % 2 == 1; }
};

// The text of `body`, as the only iteration of a loop that several tasks run. `state` is declared
// outside, and `result` is fetched.
std::string in_loop(const std::string& w, const std::string& declared, const std::string& state,
                    const std::string& type, const std::string& body, const std::string& result) {
  auto arguments = concat("(i: i32[], id: i64[], last: i64[], ", state, ": ", type, ")");
  return concat(id_at(w), declared, "body once", arguments, " {\nmore = Less(i, i32(1)) @", w,
                "\nreturn more\n}\nbody turn", arguments, " {\n", body, "next = Add(i, i32(1)) @",
                w, "\nreturn next, id, ", result, ", ", state, "\n}\nloop = While(i32(0), id, ",
                "i64(0), ", state, ") cond=once body=turn @", w,
                "\nfeed id = i64(1)\nfetch loop:2\n");
}

// Worker -> server i -> worker, with an update in between. `at_worker` is empty or the device of
// the worker's nodes.
std::string round_text(const text_choices& choices, const std::string& at_worker,
                       const std::string& back, const std::string& from, int i, int slot,
                       bool declare = true) {
  auto elements = choices.elements;
  auto n = std::to_string(i);
  auto name = concat("a", n);
  auto text = concat(name, " = Mul(id, i64(", choices.factor, "))", at_worker, '\n');
  if (elements > 0)
    text += concat("big", n, " = Fill(i32[", elements, "], a", n, ")", at_worker, "\nm", n,
                   " = Max(big", n, ", i32[0]) @", ps_task(i), '\n');
  text += concat("t", n, " = Tally(id, ", elements > 0 ? "m" : "a", n, ") slot=", slot, " @",
                 ps_task(i), '\n', declare ? variable("v" + n, ps_task(i)) : std::string{}, "add",
                 n, " = AssignAdd(v", n, ", i64(1), ^t", n, ") @", ps_task(i), '\n', back,
                 " = Add(t", n, ", ", from, ", ^add", n, ")", at_worker, '\n');
  return text;
}

std::string update_text(const text_choices& choices) {
  const auto server = choices.server;
  const auto at_worker =
      is_open(run_kind::update, choices.client) ? std::string{} : concat(" @", choices.w());
  auto first = concat("i64(", choices.factor, ")");
  if (choices.is_looped()) {
    auto state = concat("v", server);
    return in_loop(choices.w(), variable(state, choices.ps()), state, "variable i64[]",
                   round_text(choices, at_worker, "back", first, server, 0, false), "back");
  }
  return id_at(choices.w()) + round_text(choices, at_worker, "back", first, server, 0) +
         "feed id = i64(1)\nfetch back\n";
}

std::string train_text(const text_choices& choices) {
  auto text = id_at(choices.w());
  std::string sum = "i64(0)";
  for (int i = 0; i < choices.processes.servers; ++i) {
    auto next = concat("back", i);
    text += round_text(choices, concat(" @", choices.w()), next, sum, i, i);
    sum = next;
  }
  return text + "feed id = i64(1)\nfetch " + sum + "\n";
}

std::string read_text(const std::string& ps) {
  return id_at(ps) + variable("v", ps) + concat("t = Tally(id, v) slot=0 event=4 @", ps) +
         "\nfeed id = i64(1)\nfetch t\n";
}

std::string init_text(const std::string& ps) {
  return id_at(ps) + concat("b = Tally(id, id) slot=0 event=1 @", ps, '\n', variable("v", ps),
                            "set = Assign(v, i64(0), ^b) @", ps,
                            "\ne = Tally(id, id, ^set) slot=1 event=2 @", ps,
                            "\nfeed id = i64(1)\nfetch e\n");
}

std::string reduce_text(const text_choices& choices) {
  const auto& processes = choices.processes;
  auto text = id_at(choices.w());
  auto last = concat("i64(0)");
  const auto tasks = processes.workers + processes.servers;
  for (int i = 0; i < tasks; ++i) {
    auto n = std::to_string(i);
    auto at =
        concat(" @", i < processes.workers ? worker_task(i) : ps_task(i - processes.workers), '\n');
    text += concat(
        "c", n, " = Mul(id, i64(", choices.factor, "))", at, "t", n, " = Tally(id, c", n,
        ") slot=", i, " event=4", at, "f", n, " = Fill(i32[", std::max(choices.elements, 1), "], t",
        n, ")", at, "x", n, " = Add(f", n, ", i64(", i, "))", at, "r", n, " = CollectiveReduce(x",
        n, ") group_size=", tasks, " group_key=1 instance_key=1 merge_op=\"Add\" final_op=\"Id\"",
        at, "m", n, " = Max(r", n, ", i32[0])", at, "l", n, " = Min(r", n, ", i32[0])", at, "d", n,
        " = Sub(m", n, ", l", n, ")", at, "e", n, " = Add(m", n, ", d", n, ")", at, "u", n,
        " = Tally(id, e", n, ") slot=", tasks + i, " event=4", at, "s", n, " = Add(u", n, ", ",
        last, ") @", choices.w(), '\n');
    last = concat("s", n);
  }
  return text + "feed id = i64(1)\nfetch " + last + "\n";
}

std::string text_of_take(const text_choices& choices) {
  const auto holder = choices.server_kind.holder;
  auto text = take_text(holder, choices.ps());
  auto back = concat("back = Mul(t, i64(", choices.factor, ")) @", choices.w(), '\n');
  if (choices.is_looped() && (holder == holder_kind::fifo || holder == holder_kind::shuffle)) {
    auto end = text.find('\n') + 1; // the end of the declaration
    return in_loop(choices.w(), text.substr(0, end), "q", "queue", concat(text.substr(end), back),
                   "back");
  }
  return id_at(choices.w()) + text + back + "feed id = i64(1)\nfetch back\n";
}

// An accumulator's gradient is [1, id]: a count, and the sum of ids.
std::string accumulator_text(run_kind kind, const text_choices& choices) {
  auto ps = choices.ps();
  auto text = id_at(choices.w()) +
              concat("acc = ConditionalAccumulator dtype=i64 shape=[2] reduction_type=\"SUM\" "
                     "container=\"queues\" shared_name=\"acc\" @",
                     ps, '\n');
  if (kind == run_kind::apply)
    return text + concat("t = Tally(id, id) slot=0 event=4 @", ps, "\nwhich = Mul(t, i64[0, 1]) @",
                         ps, "\ngrad = Add(which, i64[1, 0]) @", ps,
                         "\nput = AccumulatorApplyGradient(acc, i64(1000000000), grad) @", ps,
                         "\nfeed id = i64(1)\ntarget put\n");
  return text + concat("got = AccumulatorTakeGradient(acc, i32(", 1 + choices.client % 2,
                       ")) dtype=i64 @", ps, "\nt = Tally(id, got) slot=0 event=5 @", ps,
                       "\nback = Mul(t, i64(", choices.factor, ")) @", choices.w(),
                       "\nfeed id = i64(1)\nfetch back\n");
}

// The nodes under the lock are on two tasks.
std::string hold_text(const text_choices& choices) {
  auto ps = choices.ps(), w = choices.w();
  return id_at(w) +
         concat("m = MutexV2 container=\"queues\" shared_name=\"m\" @", ps,
                "\nlock = MutexLock(m) @", ps, "\nt = Tally(id, id, ^lock) slot=0 event=6 @", ps,
                "\nback = Add(t, i64(", choices.factor, ")) @", w,
                "\nlast = Tally(id, back) slot=1 event=7 @", w, "\nfeed id = i64(1)\nfetch last\n");
}

// Steps with the queue that only these clients use, and that may be closed.
std::string own_queue_text(run_kind kind, const text_choices& choices) {
  auto ps = choices.ps();
  auto text = id_at(choices.w()) + concat("cq = FIFOQueue component_types=[i64] shapes=[[]] "
                                          "capacity=3 shared_name=\"cq\" @",
                                          ps, '\n');
  if (kind == run_kind::put_own)
    return text + concat("t = Tally(id, id) slot=0 event=4 @", ps, "\nput = QueueEnqueue(cq, t) @",
                         ps, "\nfeed id = i64(1)\ntarget put\n");
  if (kind == run_kind::take_own)
    return text + concat("got = QueueDequeue(cq) component_types=[i64] @", ps,
                         "\nt = Tally(id, got) slot=0 event=4 @", ps, "\nback = Mul(t, i64(",
                         choices.factor, ")) @", choices.w(), "\nfeed id = i64(1)\nfetch back\n");
  return text + concat("t = Tally(id, id) slot=0 event=4 @", ps,
                       "\nclose = QueueClose(cq, ^t) cancel_pending_enqueues=",
                       choices.client % 2 == 0 ? "true" : "false", " @", ps,
                       "\nfeed id = i64(1)\ntarget close\n");
}

std::string text_of(run_kind kind, const text_choices& choices) {
  switch (kind) {
    case run_kind::update: return update_text(choices);
    case run_kind::train: return train_text(choices);
    case run_kind::read: return read_text(choices.ps());
    case run_kind::init: return init_text(choices.ps());
    case run_kind::reduce: return reduce_text(choices);
    case run_kind::put:
      return id_at(choices.w()) + put_text(choices.server_kind.holder, choices.ps()) +
             "feed id = i64(1)\ntarget put\n";
    case run_kind::take: return text_of_take(choices);
    case run_kind::apply:
    case run_kind::collect: return accumulator_text(kind, choices);
    case run_kind::hold: return hold_text(choices);
    case run_kind::put_own:
    case run_kind::take_own:
    case run_kind::shut: return own_queue_text(kind, choices);
    case run_kind::program:
    case run_kind::training: break; // made in client_training.cpp
  }
  return {};
}

} // namespace

server_kinds server_kinds::draw(uint64_t seed, int server) {
  dice chance{seed, concat("server ", server)};
  return {static_cast<holder_kind>(chance.below(7)), static_cast<extra_kind>(chance.below(3))};
}

std::vector<run_kind> server_kinds::runs() const {
  switch (extra) {
    case extra_kind::accumulator:
      return {run_kind::put, run_kind::take, run_kind::apply, run_kind::collect};
    case extra_kind::mutex: return {run_kind::put, run_kind::take, run_kind::hold};
    case extra_kind::own_queue: break;
  }
  return {run_kind::put, run_kind::take, run_kind::put_own, run_kind::take_own, run_kind::shut};
}

step_text make_step(run_kind kind, const layout& processes, const server_kinds& server_kind,
                    int client, int worker, int server, int64_t factor, int elements) {
  step_text new_step{
      .kind = kind,
      .server = kind == run_kind::train || kind == run_kind::reduce ? -1 : processes.server(server),
      .factor = factor,
      .processes = {processes.client(client)},
      .slots = 0,
      .text = test::text_case{
          text_of(kind, {processes, server_kind, client, worker, server, factor, elements}), "step",
          &ledger::ops()}};
  for (int i = 0; i < processes.workers; ++i)
    if (kind == run_kind::reduce || is_open(kind, client) ||
        (i == worker && kind != run_kind::read && kind != run_kind::init))
      new_step.processes.push_back(processes.worker(i));
  for (int i = 0; i < processes.servers; ++i)
    if (kind == run_kind::train || kind == run_kind::reduce || is_open(kind, client) || i == server)
      new_step.processes.push_back(processes.server(i));
  new_step.slots = kind == run_kind::train    ? processes.servers
                   : kind == run_kind::reduce ? 2 * (processes.workers + processes.servers)
                   : kind == run_kind::init || kind == run_kind::hold ? 2
                                                                      : 1;
  return new_step;
}

int64_t step_text::expected(uint64_t run) const {
  auto number = static_cast<int64_t>(run);
  switch (kind) {
    case run_kind::update: return number * factor + factor;
    case run_kind::train: return number * factor * slots;
    case run_kind::hold: return number + factor;
    case run_kind::reduce: {
      const int64_t tasks = slots / 2;
      return tasks * (tasks * number * factor + tasks * (tasks - 1) / 2);
    }
    default: return number;
  }
}

} // namespace troupe::simulate
