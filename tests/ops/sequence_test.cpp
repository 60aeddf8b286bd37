// Recurrent cells and the loss of unaligned sequences, in cases that other implementations do not
// compute.
#include "tests/ops/every_op.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::sequence_test {

namespace {

void holds(std::string_view text) {
  for (const auto& failure_text : differences_of(library(), text, small_device()))
    FAIL_CHECK(failure_text);
}

} // namespace

TEST_CASE("a recurrent layer over a sequence equals its steps in order") {
  holds(R"(
w = f64[[1, -1, 0.5, 2], [0.25, 1, -2, 1]]
b = f64[0.1, 0.2, 0.3, 0.4]
p = f64[0.5]
all = BlockLSTM(i64(2), f64[[[1]], [[-2]], [[9]]], f64[[0.3]], f64[[0.7]], w, p, p, p, b) use_peephole=true
first = LSTMBlockCell(f64[[1]], f64[[0.3]], f64[[0.7]], w, p, p, p, b) use_peephole=true
second = LSTMBlockCell(f64[[-2]], first:1, first:6, w, p, p, p, b) use_peephole=true
none = ZerosLike(second)
h = Pack(first:6, second:6, none) axis=0
cs = Pack(first:1, second:1, none) axis=0
h_differs = Sub(all:6, h)
cs_differs = Sub(all:1, cs)
fetch h_differs = f64{3,1,1}[0]
fetch cs_differs = f64{3,1,1}[0]
)");
}

TEST_CASE("recurrent ops name the input that does not fit") {
  holds(R"text(
y = BlockLSTM(i64(3), f32{2,1,1}[0], f32[[0]], f32[[0]], f32{2,4}[0], f32[0], f32[0], f32[0], f32{4}[0])
fetch y
error invalid_argument "seq_len_max must be in [0, 2], got 3"
)text");
  holds(R"(
y = LSTMBlockCell(f32[[0]], f32[[0]], f32[[0]], f32{3,4}[0], f32[0], f32[0], f32[0], f32{4}[0])
error invalid_argument "rows of w: 3 or 2"
)");
  holds(R"(
y = GRUBlockCell(f32{0,2}[], f32{0,1}[], f32{3,2}[1], f32{3,1}[1], f32[0, 0], f32[0])
fetch y:3 = f32{0,1}[]
)");
}

TEST_CASE("gates far from zero neither overflow nor lose their signs") {
  holds(R"(
y = LSTMBlockCell(f32[[1]], f32[[0.5]], f32[[0]], f32[[1000, -1000, -1000, 1000], [0, 0, 0, 0]], f32[0], f32[0], f32[0], f32{4}[0])
fetch y = f32[[1]]
fetch y:1 = f32[[-1]]
fetch y:2 = f32[[0]]
fetch y:6 = f32[[-0.7615942]]
)");
}

TEST_CASE(
    "a row without labels is all blanks, and one that cannot be aligned costs infinitely much") {
  holds(R"(
x = f32{2,2,2}[0]
y = CTCLoss(x, i64[[1, 0], [1, 1]], i32[0, 0], i32[2, 2])
fetch y = f32[1.3862944, inf]
fetch y:1 = f32[[[0.5, -0.5], [0.5, 0.5]], [[0.5, -0.5], [0.5, 0.5]]]
)");
  holds(R"(
y = CTCLoss(f32{2,0,2}[], i64{0,2}[], i32{0}[], i32{0}[])
fetch y = f32{0}[]
fetch y:1 = f32{2,0,2}[]
)");
}

TEST_CASE("CTC loss is finite for paths that are almost impossible") {
  holds(R"(
x = f32[[[0, -1000, -1000]], [[0, -1000, -1000]]]
y = CTCLoss(x, i64[[0, 0]], i32[1], i32[2])
fetch y ~ 1e-3 = f32[1999.3069]
)");
}

TEST_CASE("CTC loss names labels that do not fit") {
  holds(R"text(
y = CTCLoss(f32{2,1,3}[0], i64[[0, 1], [0, 0]], i32[0, 1], i32[2])
fetch y
error invalid_argument "must be sorted, but [0,0] follows [0,1]"
)text");
  holds(R"(
y = CTCLoss(f32{2,1,3}[0], i64[[0, 0], [0, 1]], i32[2, 1], i32[2])
fetch y
error invalid_argument "label 1 of row 0 follows a blank"
)");
  holds(R"text(
y = CTCLossV2(f32{2,1,3}[0], i64[[0, 0]], i32[3], i32[2])
fetch y
error invalid_argument "label 3 of row 0 is not in [0, 3)"
)text");
}

} // namespace troupe::test::sequence_test
