// SPDX-License-Identifier: Apache-2.0
#include "mpi_peer.h"

#include <mpi.h>

#include <limits>
#include <string>

#include "collective.h"
#include "job.h"

namespace detccl::perf {
namespace {

MPI_Datatype mpi_type(contract::DataType type) {
  switch (type) {
    case contract::DataType::int8:
      return MPI_INT8_T;
    case contract::DataType::uint8:
      return MPI_UINT8_T;
    case contract::DataType::int32:
      return MPI_INT32_T;
    case contract::DataType::uint32:
      return MPI_UINT32_T;
    case contract::DataType::int64:
      return MPI_INT64_T;
    case contract::DataType::uint64:
      return MPI_UINT64_T;
    case contract::DataType::float32:
      return MPI_FLOAT;
    case contract::DataType::float64:
      return MPI_DOUBLE;
    default:
      return MPI_DATATYPE_NULL;
  }
}

MPI_Op mpi_op(contract::Op op) {
  switch (op) {
    case contract::Op::sum:
      return MPI_SUM;
    case contract::Op::prod:
      return MPI_PROD;
    case contract::Op::max:
      return MPI_MAX;
    case contract::Op::min:
      return MPI_MIN;
    default:
      return MPI_OP_NULL;
  }
}

}  // namespace

void check_mpi_supports(contract::DataType type, contract::Op op, std::uint64_t count) {
  if (mpi_type(type) == MPI_DATATYPE_NULL)
    throw UsageError("MPI has no type " + std::string(contract::name(type)));
  if (mpi_op(op) == MPI_OP_NULL) throw UsageError("MPI has no operation " + std::string(contract::name(op)));
  if (count > std::uint64_t{std::numeric_limits<int>::max()})
    throw UsageError("too many elements for MPI's counts");
}

void mpi_all_reduce(const Call& c) {
  MPI_Allreduce(c.send == c.receive ? MPI_IN_PLACE : c.send, c.receive, static_cast<int>(c.count),
                mpi_type(c.type), mpi_op(c.op), MPI_COMM_WORLD);
}

void mpi_reduce_scatter(const Call& c) {
  MPI_Reduce_scatter_block(c.send, c.receive, static_cast<int>(c.count), mpi_type(c.type), mpi_op(c.op),
                           MPI_COMM_WORLD);
}

void mpi_reduce(const Call& c) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool in_place = rank == c.root && c.send == c.receive;
  MPI_Reduce(in_place ? MPI_IN_PLACE : c.send, c.receive, static_cast<int>(c.count), mpi_type(c.type),
             mpi_op(c.op), c.root, MPI_COMM_WORLD);
}

}  // namespace detccl::perf
