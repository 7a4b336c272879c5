! SPDX-License-Identifier: BSD-2-Clause
! A solver that does not use Tenon: heat in a plate of nx x ny cells, cold outside. The plate conducts heat, is heated
! by a hot spot that moves, and radiates; the reduced model lacks the radiation. A field is an array u(x, y) of
! this process's cells with one ghost cell around them.
module heat
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: nx = 48, ny = 32, ghost = 1
  real(real64), parameter :: conductivity = 0.5_real64, emission = 0.05_real64
  type(MPI_Comm) :: plate
  integer :: rank, x0, x1, y0, y1
  integer, private :: below, above, left, right
contains
  subroutine heat_create(comm)
    type(MPI_Comm), intent(in) :: comm
    integer :: processes, dims(2), coords(2)
    dims = 0
    call MPI_Comm_size(comm, processes)
    call MPI_Dims_create(processes, 2, dims)
    call MPI_Cart_create(comm, 2, dims, [.false., .false.], .false., plate)
    call MPI_Comm_rank(plate, rank)
    call MPI_Cart_coords(plate, rank, 2, coords)
    call MPI_Cart_shift(plate, 0, 1, below, above)
    call MPI_Cart_shift(plate, 1, 1, left, right)
    x0 = nx*coords(2)/dims(2) + 1
    x1 = nx*(coords(2) + 1)/dims(2)
    y0 = ny*coords(1)/dims(1) + 1
    y1 = ny*(coords(1) + 1)/dims(1)
  end subroutine heat_create

  subroutine create_field(u)
    real(real64), allocatable, intent(out) :: u(:, :)
    allocate (u(x0 - ghost:x1 + ghost, y0 - ghost:y1 + ghost))
    u = 0
  end subroutine create_field

  ! Fills the ghost cells from the neighbours: along x first; the rows then include the corners.
  subroutine exchange(u)
    real(real64), intent(inout) :: u(x0 - ghost:, y0 - ghost:)
    call shift(u(x1, y0:y1), right, u(x0 - 1, y0:y1), left)
    call shift(u(x0, y0:y1), left, u(x1 + 1, y0:y1), right)
    call shift(u(:, y1), above, u(:, y0 - 1), below)
    call shift(u(:, y0), below, u(:, y1 + 1), above)
  end subroutine exchange

  subroutine shift(from, to, into, source)
    real(real64), intent(in) :: from(:)
    real(real64), intent(inout) :: into(:)
    integer, intent(in) :: to, source
    real(real64) :: sent(size(from)), received(size(into))
    sent = from
    received = into
    call MPI_Sendrecv(sent, size(sent), MPI_DOUBLE_PRECISION, to, 0, received, size(received), &
      MPI_DOUBLE_PRECISION, source, 0, plate, MPI_STATUS_IGNORE)
    into = received
  end subroutine shift

  ! r <- k Laplacian(u) + f(time): the reduced model. The ghost cells of u must be up to date.
  subroutine conduction(u, time, r)
    real(real64), intent(in) :: u(x0 - ghost:, y0 - ghost:), time
    real(real64), intent(inout) :: r(x0 - ghost:, y0 - ghost:)
    integer :: i, j
    do j = y0, y1
      do i = x0, x1
        r(i, j) = conductivity*(u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4*u(i, j)) + hot_spot(i, j, time)
      end do
    end do
  end subroutine conduction

  real(real64) function hot_spot(i, j, time)
    integer, intent(in) :: i, j
    real(real64), intent(in) :: time
    real(real64) :: x, y
    x = (i - 1) - nx*(0.5_real64 + 0.25_real64*cos(0.11_real64*time))
    y = (j - 1) - ny*(0.5_real64 + 0.25_real64*sin(0.11_real64*time))
    hot_spot = 0.25_real64*exp(-(x*x + y*y)/18)
  end function hot_spot

  ! r <- - c s^4, where s is the mean of a cell and its neighbours: the radiation. Ghost cells as before.
  subroutine radiation(u, r)
    real(real64), intent(in) :: u(x0 - ghost:, y0 - ghost:)
    real(real64), intent(inout) :: r(x0 - ghost:, y0 - ghost:)
    integer :: i, j
    do j = y0, y1
      do i = x0, x1
        r(i, j) = -emission*(sum(u(i - 1:i + 1, j - 1:j + 1))/9)**4
      end do
    end do
  end subroutine radiation

  ! u <- u + step r in this process's cells.
  subroutine add(u, step, r)
    real(real64), intent(inout) :: u(x0 - ghost:, y0 - ghost:)
    real(real64), intent(in) :: step, r(x0 - ghost:, y0 - ghost:)
    u(x0:x1, y0:y1) = u(x0:x1, y0:y1) + step*r(x0:x1, y0:y1)
  end subroutine add

  ! The root mean square of u - v over the plate.
  real(real64) function distance(u, v)
    real(real64), intent(in) :: u(x0 - ghost:, y0 - ghost:), v(x0 - ghost:, y0 - ghost:)
    real(real64) :: local, total
    local = sum((u(x0:x1, y0:y1) - v(x0:x1, y0:y1))**2)
    call MPI_Allreduce(local, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, plate)
    distance = sqrt(total/(nx*ny))
  end function distance
end module heat
