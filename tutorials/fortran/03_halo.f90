! SPDX-License-Identifier: BSD-2-Clause
! 03 Halo: a halo exchange, its adjoint, and a gradient through both.
!
! What you learn: a halo exchange H is a linear operator from a layout to one with a halo. Its adjoint H* adds the
! contributions in the halos to the cells of which they are copies; it is needed for the gradient of a function that
! contains the exchange. The program computes the energy of a periodic field u,
!
!   E(u) = 1/2 sum over i (u(i+1) - u(i))^2 = 1/2 |D H u|^2,
!
! and its gradient with respect to u, H* D* D H u, whose elements are -u(i-1) + 2 u(i) - u(i+1). D, the difference
! of neighbours in local memory, and D* are written by hand.
!
!   mpiexec -n 4 fortran_03_halo
!   mpiexec -n 4 fortran_03_halo -cells 1000000 -tenon_log_view
program halo_exchange
  use mpi_f08
  use tenon
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  type(tenon_layout) :: plain, wide
  type(tenon_linearop) :: halo
  type(tenon_dtensor) :: u, wide_u, wide_cotangent, gradient
  real(real64) :: local(2), energy, error, norm, forward, adjoint
  integer :: cells, rank

  call tenon_options_declare('03_halo', 'cells', TENON_OPTION_INT, '50', &
    'number of cells of the periodic field')
  call tenon_options_own_command_line()
  call tenon_initialize('03 Halo: a halo exchange, its adjoint, a gradient'//new_line('a'))
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call tenon_options_get_int('cells', cells, prefix='-')
  call create_fields()
  call fill()
  call tenon_linearop_apply(halo, u, wide_u)
  call local_energy(local(1))
  call tenon_linearop_apply_adjoint(halo, wide_cotangent, gradient)
  call gradient_error(local(2))
  call tenon_dtensor_norm(gradient, norm)
  call MPI_Allreduce(local(1), energy, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Allreduce(local(2), error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)

  ! With integers the two sides of <H x, y> = <x, H* y> are exactly equal.
  call tenon_linearop_test_adjoint(halo, 1, .true., forward, adjoint)
  if (rank == 0) then
    print '(a, f12.10, a, f12.10)', 'energy ', energy, ', norm of its gradient ', norm
    print '(2a)', 'the gradient agrees with the formula: ', yes_or_no(error < 1e-14_real64)
    print '(2a)', '<H x, y> and <x, H* y> are equal: ', yes_or_no(abs(forward - adjoint) <= 0)
  end if
  call destroy_fields()
  call tenon_finalize()
contains
  real(real64) function value_at(i)
    integer, intent(in) :: i
    value_at = sin(2*3.14159265358979323846_real64*real(i - 1, real64)/real(cells, real64))
  end function value_at

  function yes_or_no(is_so) result(word)
    logical, intent(in) :: is_so
    character(len=:), allocatable :: word
    word = trim(merge('yes', 'no ', is_so))
  end function yes_or_no

  subroutine create_fields()
    type(tenon_partition) :: partition
    type(tenon_layout) :: dual
    integer :: processes
    call MPI_Comm_size(MPI_COMM_WORLD, processes)
    call tenon_partition_create(MPI_COMM_WORLD, [processes], partition)
    call tenon_layout_create_sharded(partition, [cells], 'S0', plain)
    call tenon_layout_create_like(plain, wide)
    call tenon_layout_set_halo(wide, 1, 0, 1, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC)
    call tenon_layout_set_up(wide)
    call tenon_linearop_create_halo(plain, wide, TENON_FLOAT64, halo)

    ! A cotangent (gradient) has the dual layout: its halo holds contributions, not copies.
    call tenon_layout_get_dual(wide, dual)
    call tenon_dtensor_create(plain, TENON_FLOAT64, u)
    call tenon_dtensor_create(wide, TENON_FLOAT64, wide_u)
    call tenon_dtensor_create(dual, TENON_FLOAT64, wide_cotangent)
    call tenon_dtensor_create(plain, TENON_FLOAT64, gradient)
    call tenon_destroy(dual)
    call tenon_destroy(partition)
  end subroutine create_fields

  subroutine destroy_fields()
    call tenon_destroy(u)
    call tenon_destroy(wide_u)
    call tenon_destroy(wide_cotangent)
    call tenon_destroy(gradient)
    call tenon_destroy(halo)
    call tenon_destroy(wide)
    call tenon_destroy(plain)
  end subroutine destroy_fields

  ! The pointer has the global indices of this process's cells.
  subroutine fill()
    real(real64), pointer :: values(:)
    integer :: i
    call tenon_get_array(u, values)
    do i = lbound(values, 1), ubound(values, 1)
      values(i) = value_at(i)
    end do
    call tenon_restore_array(u, values)
  end subroutine fill

  ! 1/2 |D v|^2 of the field v with its halo, and the cotangent of v, D* D v.
  subroutine local_energy(sum)
    real(real64), intent(out) :: sum
    real(real64), pointer :: v(:), w(:)
    real(real64) :: difference
    integer :: i
    call tenon_dtensor_fill_constant(wide_cotangent, 0.0_real64)
    call tenon_get_array_read(wide_u, v)
    call tenon_get_array(wide_cotangent, w)
    sum = 0
    do i = lbound(v, 1), ubound(v, 1) - 1
      difference = v(i + 1) - v(i)
      sum = sum + difference*difference/2
      w(i + 1) = w(i + 1) + difference
      w(i) = w(i) - difference
    end do
    call tenon_restore_array(wide_cotangent, w)
    call tenon_restore_array_read(wide_u, v)
  end subroutine local_energy

  ! The largest difference between the gradient and its formula.
  subroutine gradient_error(largest)
    real(real64), intent(out) :: largest
    real(real64), pointer :: values(:)
    integer :: i
    largest = 0
    call tenon_get_array_read(gradient, values)
    do i = lbound(values, 1), ubound(values, 1)
      largest = max(largest, abs(values(i) - (-value_at(i - 1) + 2*value_at(i) - value_at(i + 1))))
    end do
    call tenon_restore_array_read(gradient, values)
  end subroutine gradient_error
end program halo_exchange
