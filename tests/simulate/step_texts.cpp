#include "tests/simulate/step_texts.hpp"

namespace troupe::simulate {
namespace {

std::string queue_at(const std::string& ps) {
  return concat(
      "q = FIFOQueue component_types=[i64] shapes=[[]] capacity=100000 container=\"queues\" "
      "shared_name=\"q\" @",
      ps, '\n');
}

std::string text_of(run_kind kind, const layout& of, int worker, int server, int64_t factor,
                    int elements) {
  auto w = concat("\"/job:worker/task:", worker, '"');
  auto p = [](int i) { return concat("\"/job:ps/task:", i, '"'); };
  auto ps = p(server);
  auto id_at = [](const std::string& where) {
    return concat("id = Placeholder dtype=i64 shape=[] @", where, '\n');
  };
  auto variable = [](const std::string& name, const std::string& where) {
    return concat(name, " = VariableV2 dtype=i64 shape=[] shared_name=\"v\" @", where, '\n');
  };
  // Worker -> server -> worker, with an update between.
  auto round = [&](const std::string& back, const std::string& from, int i, int slot) {
    auto n = std::to_string(i);
    auto there = concat("a", n);
    auto text = concat(there, " = Mul(id, i64(", factor, ")) @", w, '\n');
    if (elements > 0)
      text += concat("big", n, " = Fill(i32[", elements, "], a", n, ") @", w, "\nm", n,
                     " = Max(big", n, ", i32[0]) @", p(i), '\n');
    text +=
        concat("t", n, " = Tally(id, ", elements > 0 ? "m" : "a", n, ") slot=", slot, " @", p(i),
               '\n', variable("v" + n, p(i)), "add", n, " = AssignAdd(v", n, ", i64(1), ^t", n,
               ") @", p(i), '\n', back, " = Add(t", n, ", ", from, ", ^add", n, ") @", w, '\n');
    return text;
  };
  switch (kind) {
    case run_kind::update:
      return id_at(w) + round("back", concat("i64(", factor, ")"), server, 0) +
             "feed id = i64(1)\nfetch back\n";
    case run_kind::train: {
      auto text = id_at(w);
      std::string sum = "i64(0)";
      for (int i = 0; i < of.servers; ++i) {
        auto next = concat("back", i);
        text += round(next, sum, i, i);
        sum = next;
      }
      return text + "feed id = i64(1)\nfetch " + sum + "\n";
    }
    case run_kind::read: return variable("v", ps) + "fetch v\n";
    case run_kind::init:
      return id_at(ps) + concat("b = Tally(id, id) slot=0 event=1 @", ps, '\n', variable("v", ps),
                                "set = Assign(v, i64(0), ^b) @", ps,
                                "\ne = Tally(id, id, ^set) slot=1 event=2 @", ps,
                                "\nfeed id = i64(1)\nfetch e\n");
    case run_kind::put:
      return queue_at(ps) + id_at(w) +
             concat("put = QueueEnqueue(q, id) @", ps, "\nfeed id = i64(1)\ntarget put\n");
    case run_kind::take:
      return queue_at(ps) + id_at(w) +
             concat("get = QueueDequeue(q) component_types=[i64] @", ps,
                    "\nt = Tally(id, get) slot=0 event=3 @", ps, "\nback = Mul(t, i64(", factor,
                    ")) @", w, "\nfeed id = i64(1)\nfetch back\n");
  }
  return {};
}

} // namespace

step_text make_step(run_kind kind, const layout& of, int client, int worker, int server,
                    int64_t factor, int elements) {
  step_text made{.kind = kind,
                 .server = kind == run_kind::train ? -1 : of.server(server),
                 .factor = factor,
                 .processes = {of.client(client)},
                 .slots = 0,
                 .text = test::text_case{text_of(kind, of, worker, server, factor, elements),
                                         "step", &ledger::ops()}};
  if (kind != run_kind::read && kind != run_kind::init)
    made.processes.push_back(of.worker(worker));
  for (int i = 0; i < of.servers; ++i)
    if (kind == run_kind::train || i == server)
      made.processes.push_back(of.server(i));
  constexpr int slots[] = {1, 0, 0, 2, 0, 1};
  made.slots = kind == run_kind::train ? of.servers : slots[static_cast<size_t>(kind)];
  return made;
}

int64_t step_text::expected(uint64_t run) const {
  auto number = static_cast<int64_t>(run);
  switch (kind) {
    case run_kind::update: return number * factor + factor;
    case run_kind::train: return number * factor * slots;
    default: return number;
  }
}

} // namespace troupe::simulate
