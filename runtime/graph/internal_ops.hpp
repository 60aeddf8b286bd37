// Ops that only the runtime adds to the graphs of steps.
#pragma once
#include "troupe/runtime/graph/op.hpp"

namespace troupe::internal_ops {

extern const op_def feed; ///< _Feed(index, dtype, shape): an input from the client or a caller
/// _VariableArgument(index, dtype, shape), _TableArgument(index): state passed to a function
extern const op_def variable_argument, table_argument;
/// Arguments for state with operations that nodes wait for.
extern const op_def queue_argument, accumulator_argument, barrier_argument, mutex_argument,
    reader_argument;
extern const op_def fetch;        ///< _Fetch(value; index): an output to the client
extern const op_def send;         ///< _Send(value; key, to): sends a value to another device
extern const op_def recv;         ///< _Recv(key, dtype, shape): receives a value of another device
extern const op_def send_control; ///< _SendControl(key, to): notifies that its controls have run
extern const op_def recv_control; ///< _RecvControl(key): waits for that notification
extern const op_def read;         ///< _Read(variable): its value at the time when the node runs
extern const op_def frame;        ///< _Frame(values; ...): functions that run as steps in the step
extern const op_def frame_argument; ///< _FrameArgument(index, dtype, shape): a frame's input
extern const op_def frame_result;   ///< _FrameResult(value; index): a frame's output
extern const op_def fused;          ///< _Fused(inputs; ...): several element-wise ops in one loop

extern const op_def swap_out; ///< _SwapOut(value): its copy in host memory
extern const op_def swap_in;  ///< _SwapIn(saved; dtype, shape): starts the copy back
extern const op_def swapped;  ///< _Swapped(pending): the value, once it is copied back

extern const op_def fused_matmul; ///< _FusedMatMul(a, b, bias; ...): with a fused epilogue
extern const op_def fused_conv2d; ///< _FusedConv2D(input, filter, bias; ...)

extern const op_def tuple;       ///< _Tuple(components; places, count): packs values into one
extern const op_def tuple_items; ///< _TupleItems(tuple; places, types, shapes): unpacks some

extern const op_def pieces;        ///< _Pieces(value; ...): splits a value by task (piece.hpp)
extern const op_def reduce_pieces; ///< _ReducePieces(pieces; ...): reduces one piece of each task
extern const op_def join_pieces;   ///< _JoinPieces(pieces, like): joins reduced pieces
extern const op_def join_rows;     ///< _JoinRows(rows; ...): concatenates the rows of all tasks

inline constexpr const op_def* definitions[] = {&feed,
                                                &variable_argument,
                                                &table_argument,
                                                &queue_argument,
                                                &accumulator_argument,
                                                &barrier_argument,
                                                &mutex_argument,
                                                &reader_argument,
                                                &fetch,
                                                &send,
                                                &recv,
                                                &send_control,
                                                &recv_control,
                                                &read,
                                                &frame,
                                                &frame_argument,
                                                &frame_result,
                                                &fused,
                                                &swap_out,
                                                &swap_in,
                                                &swapped,
                                                &fused_matmul,
                                                &fused_conv2d,
                                                &tuple,
                                                &tuple_items,
                                                &pieces,
                                                &reduce_pieces,
                                                &join_pieces,
                                                &join_rows};

/// Returns the op of a function's argument that is state of this kind, or nullptr.
const op_def* state_argument(resource kind) noexcept;

/// Returns whether the node is an input or output of the client.
bool is_boundary(const node& node) noexcept;

/// Returns whether the node has the same value in each run, independent of earlier runs.
bool is_constant(const node& node) noexcept;

} // namespace troupe::internal_ops
