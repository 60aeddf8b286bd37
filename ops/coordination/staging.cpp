// Staging areas: one step stores tuples that another step takes.
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/state/staging_area.hpp"

namespace troupe::ops::staging_op {
namespace {

template <staging_order order>
result<std::unique_ptr<waitable_resource>> make(const node& from_node, std::string name) {
  TROUPE_ASSIGN(auto created,
                staging_area::make({.name = std::move(name),
                                    .order = order,
                                    .capacity = from_node.attr<int64_t>("capacity"),
                                    .memory_limit = from_node.attr<int64_t>("memory_limit")}));
  return std::unique_ptr<waitable_resource>{std::move(created)};
}

staging_area& as_area(waitable_resource& resource) { return static_cast<staging_area&>(resource); }

void ask_stage(waitable_resource& resource, question&& request, answers& done) {
  as_area(resource).put(request.id, std::move(request.inputs), done);
}

void ask_unstage(waitable_resource& resource, question&& request, answers& done) {
  as_area(resource).take(request.id, {}, done);
}

result<int64_t> one_number(const tensor& input, std::string_view name) {
  if (input.elements() != 1 || (input.type() != dtype::i64 && input.type() != dtype::i32))
    return invalid(name, " must be one number, got ", input);
  return input.type() == dtype::i64 ? *input.data<int64_t>() : *input.data<int32_t>();
}

result<std::vector<int64_t>> numbers_of(const tensor& input) {
  if (input.type() != dtype::i32 || input.rank() != 1)
    return invalid("indices must be an i32 vector, got ", input);
  auto values = input.values<int32_t>();
  return std::vector<int64_t>{values.begin(), values.end()};
}

void ask_peek(waitable_resource& resource, question&& request, answers& done) {
  if (auto index = one_number(request.inputs.at(0), "index"))
    as_area(resource).take(request.id, {.index = *index, .peek = true}, done);
  else
    done.push_back({request.id, index.status()});
}

void ask_size(waitable_resource& resource, question&& request, answers& done) {
  done.push_back(
      {request.id, {}, {tensor::scalar(static_cast<int32_t>(as_area(resource).size()))}});
}

void ask_incomplete_size(waitable_resource& resource, question&& request, answers& done) {
  done.push_back(
      {request.id, {}, {tensor::scalar(static_cast<int32_t>(as_area(resource).incomplete()))}});
}

void ask_clear(waitable_resource& resource, question&& request, answers& done) {
  as_area(resource).clear(done);
  done.push_back({request.id, {}});
}

// A request of a map's node: its inputs are a key, if it has one, indices, and values.
status put_in_map(waitable_resource& resource, question& request, answers& done) {
  TROUPE_ASSIGN(auto key, one_number(request.inputs.at(0), "key"));
  TROUPE_ASSIGN(auto indices, numbers_of(request.inputs.at(1)));
  auto components = request.origin->attr<std::vector<dtype>>("dtypes").size();
  element values{std::move_iterator{request.inputs.begin() + 2},
                 std::move_iterator{request.inputs.end()}};
  as_area(resource).put(request.id,
                        {.key = key, .indices = std::move(indices), .components = components},
                        std::move(values), done);
  return {};
}

status take_from_map(waitable_resource& resource, const question& request, bool has_key, bool looks,
                     answers& done) {
  staging_area::take_options options{.all_components = false, .peek = looks, .with_key = !has_key};
  if (has_key) {
    TROUPE_ASSIGN(options.key, one_number(request.inputs.at(0), "key"));
  }
  TROUPE_ASSIGN(options.indices, numbers_of(request.inputs.at(has_key ? 1 : 0)));
  as_area(resource).take(request.id, std::move(options), done);
  return {};
}

void ask_map_stage(waitable_resource& resource, question&& request, answers& done) {
  if (auto outcome = put_in_map(resource, request, done); !outcome)
    done.push_back({request.id, std::move(outcome)});
}

void ask_map_unstage(waitable_resource& resource, question&& request, answers& done) {
  if (auto outcome = take_from_map(resource, request, true, false, done); !outcome)
    done.push_back({request.id, std::move(outcome)});
}

void ask_map_unstage_no_key(waitable_resource& resource, question&& request, answers& done) {
  if (auto outcome = take_from_map(resource, request, false, false, done); !outcome)
    done.push_back({request.id, std::move(outcome)});
}

void ask_map_peek(waitable_resource& resource, question&& request, answers& done) {
  if (auto outcome = take_from_map(resource, request, true, true, done); !outcome)
    done.push_back({request.id, std::move(outcome)});
}

result<shapes> infer_unknown(const infer_context& at) {
  return shapes(static_cast<size_t>(at.outputs()));
}

result<shapes> infer_unstage_no_key(const infer_context& at) {
  shapes inferred(static_cast<size_t>(at.outputs()));
  inferred[0] = shape{};
  return inferred;
}

// An op of staging areas. Each node names its area by its attributes.
struct form {
  std::string_view name, doc;
  result<std::unique_ptr<waitable_resource>> (*make)(const node& from_node, std::string name);
  void (*ask)(waitable_resource& resource, question&& request, answers& done);
  port_list inputs = {}, outputs = {};
  bool gives_back = false;
  attr_def types = {"dtypes", attr_kind::types, true};
  attr_def more = {};
};

constexpr op_def op_of(const form& op_form, result<shapes> (*infer)(const infer_context&),
                       std::string_view example) {
  op_def def{.name = op_form.name,
             .doc = op_form.doc,
             .inputs = op_form.inputs,
             .outputs = op_form.outputs,
             .effects = effect::stateful | effect::blocking,
             .state_kind = resource::stage,
             .make_waitable_resource = op_form.make,
             .start_operation = op_form.ask,
             .returns_answer_on_failure = op_form.gives_back,
             .infer = infer,
             .no_gradient = "staging areas do not carry gradients",
             .example = example};
  def.attrs = {
      op_form.types, {"capacity", 0}, {"memory_limit", 0}, {"container", ""}, {"shared_name", ""}};
  if (!op_form.more.name.empty())
    def.attrs.push_back(op_form.more);
  return def;
}

constexpr attr_def listed{"dtypes", attr_kind::types};
constexpr port key{"key", "i64", {}, false, resource::none, true};
constexpr port indices{"indices", "i32", {}, false, resource::none, true};
constexpr port values{"values", "dtypes"};

} // namespace

extern constexpr op_def stage = op_of(
    {"Stage",
     "Puts a tuple into a staging area, as soon as there is room.\n\n"
     "The area lives in the named container of its task, under shared_name or else the node's "
     "name; all nodes of the name share it. It holds `capacity` tuples of `memory_limit` bytes "
     "together (0: no limit). Fails with resource_exhausted where a tuple alone is larger.",
     make<staging_order::fifo>,
     ask_stage,
     {values},
     {},
     false,
     listed},
    infer::nothing, R"(
put = Stage(f32(3)) shared_name="area1"
get = Unstage dtypes=[f32] shared_name="area1"
target put
run
fetch get = f32(3)
)");

extern constexpr op_def unstage =
    op_of({"Unstage",
           "Takes the oldest tuple out of a staging area, as soon as there is one.\n\n"
           "It goes back to the front if the step fails later.",
           make<staging_order::fifo>,
           ask_unstage,
           {},
           {values},
           true,
           listed},
          infer_unknown, R"(
put = Stage(f32[1, 2], i32(3)) shared_name="area2"
get = Unstage dtypes=[f32, i32] shared_name="area2"
target put
run
fetch get:1 = i32(3)
)");

extern constexpr op_def stage_peek =
    op_of({"StagePeek",
           "Looks at the tuple in that place of a staging area's line, as soon as there is one.",
           make<staging_order::fifo>,
           ask_peek,
           {{"index", "i32", {}, false, resource::none, true}},
           {values},
           false,
           listed},
          infer_unknown, R"(
put = Stage(f32(3)) shared_name="area3"
look = StagePeek(i32(0)) dtypes=[f32] shared_name="area3"
size = StageSize dtypes=[f32] shared_name="area3"
target put
run
fetch look = f32(3)
run
fetch size = i32(1)
)");

extern constexpr op_def stage_size = op_of({"StageSize",
                                            "Counts the tuples of a staging area at this moment.",
                                            make<staging_order::fifo>,
                                            ask_size,
                                            {},
                                            {{"size", "i32"}}},
                                           infer::scalar, R"(
size = StageSize shared_name="area4"
fetch size = i32(0)
)");

extern constexpr op_def stage_clear = op_of(
    {"StageClear", "Drops the tuples of a staging area.", make<staging_order::fifo>, ask_clear},
    infer::nothing, R"(
put = Stage(f32(3)) shared_name="area5"
clear = StageClear shared_name="area5"
size = StageSize shared_name="area5"
target put
run
target clear
run
fetch size = i32(0)
)");

extern constexpr op_def map_stage = op_of(
    {"MapStage",
     "Puts components of a tuple into a staging area under a key.\n\n"
     "`indices` says which of the `dtypes` the values are; the tuple is there once it has all. "
     "Waits while the area is full. Nodes of one name share the area (see Stage).",
     make<staging_order::by_key>,
     ask_map_stage,
     {key, indices, {"values", "fake_dtypes"}},
     {},
     false,
     listed,
     {"fake_dtypes", attr_kind::types}},
    infer::nothing, R"(
left = MapStage(i64(7), i32[0], f32(1)) dtypes=[f32, i32] shared_name="area6"
right = MapStage(i64(7), i32[1], i32(2)) dtypes=[f32, i32] shared_name="area6"
get = MapUnstage(i64(7), i32[0, 1]) dtypes=[f32, i32] shared_name="area6"
target left
run
target right
run
fetch get:1 = i32(2)
)");

extern constexpr op_def map_unstage = op_of(
    {"MapUnstage",
     "Takes components of the tuple with that key out of a staging area, as soon as it is there."
     "\n\nThe others stay in. What was taken goes back if the step fails later.",
     make<staging_order::by_key>,
     ask_map_unstage,
     {key, indices},
     {values},
     true,
     listed},
    infer_unknown, R"(
put = MapStage(i64(7), i32[0, 1], f32(1), i32(2)) dtypes=[f32, i32] shared_name="area7"
get = MapUnstage(i64(7), i32[1]) dtypes=[i32] shared_name="area7"
target put
run
fetch get = i32(2)
)");

extern constexpr op_def map_unstage_no_key = op_of(
    {"MapUnstageNoKey",
     "Takes components of a tuple out of a staging area, whichever is there, and says its key."
     "\n\nIt goes back if the step fails later.",
     make<staging_order::by_key>,
     ask_map_unstage_no_key,
     {indices},
     {{"key", "i64"}, values},
     true,
     listed},
    infer_unstage_no_key, R"(
put = MapStage(i64(7), i32[0], f32(1)) dtypes=[f32] shared_name="area8"
get = MapUnstageNoKey(i32[0]) dtypes=[f32] shared_name="area8"
target put
run
fetch get:0 = i64(7)
)");

extern constexpr op_def map_peek = op_of(
    {"MapPeek",
     "Looks at components of the tuple with that key in a staging area, as soon as it is there.",
     make<staging_order::by_key>,
     ask_map_peek,
     {key, indices},
     {values},
     false,
     listed},
    infer_unknown, R"(
put = MapStage(i64(7), i32[0], f32(1)) dtypes=[f32] shared_name="area9"
look = MapPeek(i64(7), i32[0]) dtypes=[f32] shared_name="area9"
target put
run
fetch look = f32(1)
)");

extern constexpr op_def map_size =
    op_of({"MapSize",
           "Counts the complete tuples of a staging area at this moment.",
           make<staging_order::by_key>,
           ask_size,
           {},
           {{"size", "i32"}}},
          infer::scalar, R"(
size = MapSize shared_name="area10"
fetch size = i32(0)
)");

extern constexpr op_def map_incomplete_size =
    op_of({"MapIncompleteSize",
           "Counts the tuples of a staging area that lack a component.",
           make<staging_order::by_key>,
           ask_incomplete_size,
           {},
           {{"size", "i32"}}},
          infer::scalar, R"(
put = MapStage(i64(7), i32[0], f32(1)) dtypes=[f32, f32] shared_name="area11"
size = MapIncompleteSize shared_name="area11"
target put
run
fetch size = i32(1)
)");

extern constexpr op_def map_clear = op_of(
    {"MapClear", "Drops the tuples of a staging area.", make<staging_order::by_key>, ask_clear},
    infer::nothing, R"(
clear = MapClear shared_name="area12"
target clear
)");

extern constexpr op_def ordered_map_stage = op_of(
    {"OrderedMapStage",
     "Puts components of a tuple into a staging area under a key.\n\n"
     "`indices` says which of the `dtypes` the values are; the tuple is there once it has all. "
     "Waits while the area is full. Nodes of one name share the area (see Stage).",
     make<staging_order::by_least_key>,
     ask_map_stage,
     {key, indices, {"values", "fake_dtypes"}},
     {},
     false,
     listed,
     {"fake_dtypes", attr_kind::types}},
    infer::nothing, R"(
left = OrderedMapStage(i64(7), i32[0], f32(1)) dtypes=[f32, i32] shared_name="area13"
right = OrderedMapStage(i64(7), i32[1], i32(2)) dtypes=[f32, i32] shared_name="area13"
get = OrderedMapUnstage(i64(7), i32[0, 1]) dtypes=[f32, i32] shared_name="area13"
target left
run
target right
run
fetch get:1 = i32(2)
)");

extern constexpr op_def ordered_map_unstage = op_of(
    {"OrderedMapUnstage",
     "Takes components of the tuple with that key out of a staging area, as soon as it is there."
     "\n\nThe others stay in. What was taken goes back if the step fails later.",
     make<staging_order::by_least_key>,
     ask_map_unstage,
     {key, indices},
     {values},
     true,
     listed},
    infer_unknown, R"(
put = OrderedMapStage(i64(7), i32[0, 1], f32(1), i32(2)) dtypes=[f32, i32] shared_name="area14"
get = OrderedMapUnstage(i64(7), i32[1]) dtypes=[i32] shared_name="area14"
target put
run
fetch get = i32(2)
)");

extern constexpr op_def ordered_map_unstage_no_key =
    op_of({"OrderedMapUnstageNoKey",
           "Takes components of a tuple out of a staging area, the one with the least key, and "
           "says its key."
           "\n\nIt goes back if the step fails later.",
           make<staging_order::by_least_key>,
           ask_map_unstage_no_key,
           {indices},
           {{"key", "i64"}, values},
           true,
           listed},
          infer_unstage_no_key, R"(
put = OrderedMapStage(i64(7), i32[0], f32(1)) dtypes=[f32] shared_name="area15"
get = OrderedMapUnstageNoKey(i32[0]) dtypes=[f32] shared_name="area15"
target put
run
fetch get:0 = i64(7)
)");

extern constexpr op_def ordered_map_peek = op_of(
    {"OrderedMapPeek",
     "Looks at components of the tuple with that key in a staging area, as soon as it is there.",
     make<staging_order::by_least_key>,
     ask_map_peek,
     {key, indices},
     {values},
     false,
     listed},
    infer_unknown, R"(
put = OrderedMapStage(i64(7), i32[0], f32(1)) dtypes=[f32] shared_name="area16"
look = OrderedMapPeek(i64(7), i32[0]) dtypes=[f32] shared_name="area16"
target put
run
fetch look = f32(1)
)");

extern constexpr op_def ordered_map_size =
    op_of({"OrderedMapSize",
           "Counts the complete tuples of a staging area at this moment.",
           make<staging_order::by_least_key>,
           ask_size,
           {},
           {{"size", "i32"}}},
          infer::scalar, R"(
size = OrderedMapSize shared_name="area17"
fetch size = i32(0)
)");

extern constexpr op_def ordered_map_incomplete_size =
    op_of({"OrderedMapIncompleteSize",
           "Counts the tuples of a staging area that lack a component.",
           make<staging_order::by_least_key>,
           ask_incomplete_size,
           {},
           {{"size", "i32"}}},
          infer::scalar, R"(
put = OrderedMapStage(i64(7), i32[0], f32(1)) dtypes=[f32, f32] shared_name="area18"
size = OrderedMapIncompleteSize shared_name="area18"
target put
run
fetch size = i32(1)
)");

extern constexpr op_def ordered_map_clear =
    op_of({"OrderedMapClear", "Drops the tuples of a staging area.",
           make<staging_order::by_least_key>, ask_clear},
          infer::nothing, R"(
clear = OrderedMapClear shared_name="area19"
target clear
)");

} // namespace troupe::ops::staging_op
