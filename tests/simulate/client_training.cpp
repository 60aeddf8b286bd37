// Synchronous training by replicas, of which some may be missing (docs/decisions/058): the steps of
// a chief and of replicas as `replicas` has them, run by one client.
#include "tests/simulate/client_host.hpp"

#include <algorithm>

namespace troupe::simulate {

using namespace std::chrono_literals;

namespace {

// A step that waits for others that are gone ends by this.
constexpr duration step_patience = 5s, prepare_patience = 20s, pause = 100ms, longest_pause = 500ms;
constexpr int last_updates = 3, last_tries = 8;

std::string numbers(int64_t count, int64_t one_at = -1) {
  std::string text = "i64[";
  for (int64_t i = 0; i < count; ++i)
    text += concat(i ? ", " : "", i == one_at ? 1 : 0);
  return text + ']';
}

} // namespace

struct client_host::training {
  enum kind : size_t { begin, open, apply, work }; // work + i: of replica i
  struct part {
    std::unique_ptr<test::text_case> text;
    std::vector<int> processes;
    std::shared_ptr<prepared_step> step = {};
    bool is_asked = false;
  };

  uint64_t generation;
  bool is_last;
  int64_t replicas, required;
  std::vector<part> parts = {};
  bool begun = false, opened = false, over = false;
  int lanes = 0, updates = 0, failures = 0;
  std::function<void()> then = {};
};

// -- the steps -----------------------------------------------------------------------------------

// A gradient is the number of the replica's run, in the replica's place: the sum says whose are in
// it. Variables are added up to, so that they say which sums are in them.
void client_host::make_parts(training& of) const {
  const std::string ps = " @\"/job:ps/task:0\"\n", shared = " container=\"training\" shared_name=";
  auto n = of.replicas;
  auto state =
      concat("acc = ConditionalAccumulator dtype=i64 shape=[", n, "] reduction_type=\"SUM\"",
             shared, "\"acc\"", ps, "clock = ReplicaClock ", "replicas=", n, shared, "\"clock\"",
             ps, "v = VariableV2 dtype=i64 shape=[", n, "]", shared, "\"v\"", ps);
  auto fed = [](const std::string& at) {
    return concat("id = Placeholder dtype=i64 shape=[]", at, "label = Placeholder dtype=i64 ",
                  "shape=[]", at);
  };
  const std::string feeds = "feed id = i64(1)\nfeed label = i64(1)\n";
  // Older gradients are dropped, then those that are there, and then all hear of the step.
  auto opens = [&](const std::string& after) {
    return concat("older = AccumulatorSetGlobalStep(acc, label, ^", after, ")", ps,
                  "clear = AccumulatorClear(acc, ^older)", ps,
                  "set = ReplicaClockSet(clock, label, ^clear)", ps, feeds, "target set\n");
  };
  auto told = concat("t = Tally(id, id) slot=0 event=4", ps);
  auto add = [&](const std::string& text, int worker) {
    std::vector<int> on{layout_.client(number_), layout_.server(0)};
    if (worker >= 0)
      on.push_back(layout_.worker(worker));
    of.parts.push_back(
        {std::make_unique<test::text_case>(text, "training", &ledger::ops()), std::move(on)});
  };
  add(concat(fed(ps), state, told, "zero = Assign(v, ", numbers(n), ", ^t)", ps, opens("zero")),
      -1);
  add(concat(fed(ps), state, told, opens("t")), -1);
  add(concat(fed(ps), state, "got = AccumulatorTakeGradient(acc, i32(", of.required, ")) dtype=i64",
             ps, "taken = Tally(id, got) slot=0 event=8", ps, "more = AssignAdd(v, taken)", ps,
             "done = Tally(id, taken, ^more) slot=1 event=9", ps, "next = Add(label, i64(1))", ps,
             "set = ReplicaClockSet(clock, next, ^done)", ps, feeds,
             "fetch done\nfetch more\ntarget set\n"),
      -1);
  for (int64_t i = 0; i < n; ++i) {
    auto worker = static_cast<int>(i) % layout_.workers;
    auto at = concat(" @\"/job:worker/task:", worker, "\"\n");
    add(concat(fed(at), state, "now = Identity(v)", at, "t = Tally(id, id, ^now) slot=0 event=4",
               at, "grad = Mul(t, ", numbers(n, i), ")", at,
               "put = AccumulatorApplyGradient(acc, label, grad) contributor=", i, ps,
               "next = ReplicaClockAwait(clock, label, ^put)", ps, feeds, "fetch next\n"),
        worker);
  }
}

// Runs one of them; `then` is told what it gave.
void client_host::run_part(
    const training_ptr& of, size_t which, int64_t label,
    std::function<void(const status&, run_record*, const std::vector<tensor>&)> then) {
  auto& part = of->parts[which];
  if (!part.step)
    return ask_prepare(*part.text->nodes, test::signature_of(part.text->text.runs[0]),
                       concat("training ", which), part.processes, core_.now + prepare_patience,
                       [=, this, &part](const status& why, std::shared_ptr<prepared_step> made) {
                         if (why.ok() && of->generation == generation_) {
                           part.step = std::move(made);
                           run_part(of, which, label, then);
                         } else {
                           then(why.ok() ? failure(error_kind::cancelled, "the session is another")
                                         : why,
                                nullptr, {});
                         }
                       });
  auto& record =
      ledger_.begin({.kind = run_kind::training,
                     .client = number_,
                     .server = layout_.server(0),
                     .processes = part.processes,
                     .slots = which == training::apply ? 2 : 1,
                     .issued = core_.now,
                     .deadline = core_.now + step_patience,
                     .session = generation_,
                     .replica = static_cast<int64_t>(which) - static_cast<int64_t>(training::work),
                     .label = label,
                     .least = of->required});
  std::vector<tensor> feeds{tensor::scalar(static_cast<int64_t>(record.number)),
                            tensor::scalar(label)};
  ask_run(record, part.step, std::move(feeds),
          [=, this, &record](const status& why, const std::vector<tensor>& fetches) {
            note_end(record, why);
            // What a chief's step opens with ends those that wait to take, also late.
            auto cleared = why.kind() == error_kind::cancelled && which == training::apply;
            if (why.ok()) {
              ledger_.succeeded(record);
            } else if (!cleared) {
              check_error(why, record.processes, record.issued, record.deadline,
                          concat("training ", which, " as run ", record.number),
                          which >= training::apply);
            }
            then(why, &record, fetches);
          });
}

// -- chief and replicas --------------------------------------------------------------------------

void client_host::train(bool is_last, std::function<void()> then) {
  auto n = core_.with.replicas;
  training_ptr made{new training{.generation = generation_,
                                 .is_last = is_last,
                                 .replicas = n,
                                 .required = n - n / 3,
                                 .then = std::move(then)}};
  make_parts(*made);
  made->lanes = static_cast<int>(n) + 1;
  busy_ += made->lanes;
  lead(made);
  for (int64_t i = 0; i < n; ++i)
    follow(made, static_cast<size_t>(i), -1);
}

bool client_host::goes_on(const training& of) const {
  return !core_.found() && of.generation == generation_ && !of.over && (!stopping_ || of.is_last);
}

void client_host::leave(const training_ptr& of) {
  if (of->generation != generation_)
    return;
  --busy_;
  if (--of->lanes == 0 && of->then && !core_.found())
    of->then();
}

// The chief: opens a step, and then takes gradients and updates, as long as that goes well. Where
// it does not, labels grow by two: what was computed before is too old then.
void client_host::lead(const training_ptr& of) {
  if (!goes_on(*of))
    return leave(of);
  auto which = !of->begun ? training::begin : !of->opened ? training::open : training::apply;
  if (which != training::apply)
    training_label_ += 2;
  run_part(of, which, training_label_,
           [=, this](const status& why, run_record* run, const std::vector<tensor>& fetches) {
             if (!why.ok()) {
               if (which == training::begin)
                 ledger_.doubt_training();
               of->opened = false;
               if (why.kind() == error_kind::failed_precondition)
                 of->begun = false;
               if (of->is_last && goes_on(*of) && ++of->failures > last_tries) {
                 core_.violated("a training run ends when faults are over", name(), ": ",
                                first_line(why));
               }
               return core_.after(pause, [=, this] { lead(of); });
             }
             if (which == training::apply) {
               ledger_.trained(*run, fetches[1]);
               ++training_label_;
               if (of->is_last && ++of->updates == last_updates)
                 return release(of);
             } else {
               if (which == training::begin)
                 ledger_.began_training(*run);
               of->begun = of->opened = true;
             }
             // At once, those that are late find that they are; else all are in time.
             core_.after(training_chance_.permille(500)
                             ? duration{0}
                             : training_chance_.between(duration{0}, longest_pause),
                         [=, this] { lead(of); });
           });
}

// Those that wait for the next step are let go.
void client_host::release(const training_ptr& of) {
  of->over = true;
  training_label_ += 2;
  run_part(of, training::open, training_label_,
           [=, this](const status&, run_record*, const std::vector<tensor>&) { leave(of); });
}

// A replica: computes a gradient for the step that it knows, and waits for the next. Where it has
// failed, it may have given its gradient already.
void client_host::follow(const training_ptr& of, size_t replica, int64_t label) {
  if (!goes_on(*of))
    return leave(of);
  if (!of->opened) {
    core_.after(pause, [=, this] { follow(of, replica, -1); });
    return;
  }
  run_part(of, training::work + replica, label < 0 ? training_label_ : label,
           [=, this](const status& why, run_record*, const std::vector<tensor>& fetches) {
             if (why.ok())
               return follow(of, replica, *fetches[0].data<int64_t>());
             core_.after(pause, [=, this] { follow(of, replica, -1); });
           });
}

} // namespace troupe::simulate
