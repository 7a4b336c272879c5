! SPDX-License-Identifier: BSD-2-Clause
! An error in a call without ierr: the trace is printed and the program ends.
program aborts
  use mpi_f08
  use tenon
  implicit none
  type(tenon_partition) :: partition
  type(tenon_layout) :: layout
  integer :: ranks
  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call tenon_initialize()
  call tenon_partition_create(MPI_COMM_WORLD, [ranks], partition)
  call tenon_layout_create_sharded(partition, [4, 4], 'S7', layout)
  print '(a)', 'not reached'
end program aborts
